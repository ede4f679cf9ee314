"""The strict protocol with the method in a sealed process."""

import numpy as np

from nodegraft.base.events import SILENT, Listener
from nodegraft.base.measure import Measurement
from nodegraft.evaluation.metrics import auroc
from nodegraft.evaluation.protocol import (
    QueryScores,
    SessionResult,
    StreamResult,
    rows_of_later_classes,
    session_result,
)
from nodegraft.evaluation.sealed.method import SealedMethod
from nodegraft.streams.session import Session
from nodegraft.streams.stream import ClassStream

SEALED = "sealed"
"""Part of the protocol's name in records of sealed methods."""


def evaluate_sealed(
    method: SealedMethod, stream: ClassStream, *, listener: Listener = SILENT
) -> StreamResult:
    """Train and measure as :func:`nodegraft.evaluation.protocol.evaluate` does.

    Labels of query nodes, the split and hidden nodes stay in this process.

    Args:
        method: The method, in its process; it has learned nothing yet.
    """
    results = []
    for session in stream:
        with Measurement() as work:
            if session.index == 0:
                method.fit(session.view, stream.curriculum)
            else:
                method.add_classes(session.view, session.support)
        # This process learns nothing itself: memory is what the sealed one reports.
        work.peak_bytes = method.peak_bytes
        results.append(_measure(method, session, stream, work))
        listener.session(results[-1])
    return StreamResult(tuple(results))


def _measure(
    method: SealedMethod, session: Session, stream: ClassStream, work: Measurement
) -> SessionResult:
    with Measurement() as prediction:
        probabilities, confidence = method.predictions(session.view)
    rows = np.sort(session.query.rows())
    places, later = session.view.positions(rows), rows_of_later_classes(session, stream.split)
    unknown_auroc = None
    if later.size:
        unknown_auroc = auroc(confidence[places], confidence[session.view.positions(later)])
    predicted = QueryScores(rows, probabilities[places], unknown_auroc)
    return session_result(method, session, stream.split, predicted, work, prediction)
