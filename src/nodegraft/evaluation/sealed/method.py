"""Sealed method: a method that runs in an isolated process, and the strict protocol for it."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from nodegraft.base.errors import DataError, SealedMethodError
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
from nodegraft.evaluation.sealed.channel import Channel, Message
from nodegraft.evaluation.sealed.contents import Contents
from nodegraft.evaluation.sealed.isolation import Isolation
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.model.registry import MethodDescription
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.session import Session
from nodegraft.streams.stream import ClassStream

_PASSED_ON = ("LANG", "LC_ALL", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Environment variables that are passed on to the sealed process."""

_SMALL = 1 << 20
"""Maximum size in bytes of a reply without arrays."""


class SealedMethod:
    """Method that runs in a separate, isolated process and gets only arrays; a context manager.

    The judge's process (this process) never imports the code of the method.

    Args:
        method: Name of a registered method, or ``module:class``.
        seed: Seed of the method. It must differ from the seed of the split, unless the seed of the
            split is public.
        parameters: Hyper-parameters by name; text values are parsed by the type of the parameter.
        forbidden: Folders that the process must not be able to read, such as the data folder.
    """

    def __init__(
        self,
        method: str,
        *,
        seed: int = 0,
        parameters: Mapping[str, Any] | None = None,
        forbidden: Sequence[str | Path] = (),
    ) -> None:
        self._name = method
        self.classes_: tuple[str, ...] = ()
        self.peak_bytes = 0
        self._kept_bytes = 0
        self._scratch = TemporaryDirectory(prefix="sealed-")
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  (this Python, no text of a user)
                [sys.executable, "-P", "-m", f"{__package__}.child", str(theirs.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd="/",
                env={**_environment(), "TMPDIR": self._scratch.name},
            )
        self._channel = Channel(ours, max_bytes=_SMALL)
        try:
            self.isolation = self._isolated([str(Path(place).resolve()) for place in forbidden])
            start = {
                "method": method,
                "parameters": dict(parameters or {}),
                "seed": seed,
                "threads": torch.get_num_threads(),
            }
            described = self._ask(Message("start", start), "description").fields
            self.description = MethodDescription(**described)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the sealed process."""
        self._channel.close()
        self._process.kill()
        self._process.wait()
        self._scratch.cleanup()

    def fit(self, view: GraphView, curriculum: Curriculum) -> None:
        """Fit the first classes in the sealed process, like :meth:`nodegraft.Method.fit`."""
        contents = Contents({}, {})
        contents.put_curriculum(curriculum)
        self._learn("fit", view, contents)
        self.classes_ = curriculum.train.classes

    def add_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Add classes in the sealed process, like :meth:`nodegraft.Method.add_classes`."""
        contents = Contents({}, {})
        contents.put_labels("support", support)
        self._learn("add", view, contents)
        self.classes_ += support.classes

    def kept_bytes(self) -> int:
        """Return the size of the learned state in bytes, as reported by the sealed process."""
        return self._kept_bytes

    def predictions(self, view: GraphView) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return probabilities and confidence of every visible node, in row order.

        All visible nodes are predicted, because the choice of query nodes would reveal information
        about their class.
        """
        shape = (view.num_nodes, len(self.classes_))
        self._channel.max_bytes = 8 * (shape[0] * shape[1] + shape[0]) + _SMALL
        arrays = self._ask(Message("predict"), "predictions").arrays
        probabilities = _checked(arrays.get("probabilities"), shape)
        return probabilities, _checked(arrays.get("confidence"), shape[:1])

    def _learn(self, kind: str, view: GraphView, contents: Contents) -> None:
        contents.put_view(view)
        reply = self._ask(Message(kind, contents.fields, contents.arrays), "learned").fields
        self.peak_bytes, self._kept_bytes = int(reply["peak_bytes"]), int(reply["kept_bytes"])

    def _isolated(self, forbidden: list[str]) -> Isolation:
        scratch = self._scratch.name
        settings = {"readable": _readable(), "scratch": scratch, "forbidden": forbidden}
        assert self._process.stdin is not None  # noqa: S101  (it is a pipe)
        with self._process.stdin as stream:
            stream.write(json.dumps(settings).encode())
        return Isolation(**self._receive("isolation").fields)

    def _ask(self, message: Message, kind: str) -> Message:
        with suppress(OSError):  # If the process has ended, its last message says why.
            self._channel.send(message)
        return self._receive(kind)

    def _receive(self, kind: str) -> Message:
        try:
            message = self._channel.receive()
        except (EOFError, OSError):
            code = self._process.wait()
            raise SealedMethodError(
                self._name, f"its process ended with exit code {code}"
            ) from None
        except DataError as error:
            raise SealedMethodError(self._name, str(error)) from None
        if message.kind == "error":
            raise SealedMethodError(self._name, str(message.fields["error"]))
        if message.kind != kind:
            raise SealedMethodError(self._name, f"it sent {message.kind!r} instead of {kind!r}")
        return message


def _checked(array: NDArray[Any] | None, shape: tuple[int, ...]) -> NDArray[np.float64]:
    if array is None or array.shape != shape or array.dtype != np.float64:
        described = "nothing" if array is None else f"{array.dtype} of shape {array.shape}"
        raise DataError(f"A sealed method sent {described} instead of float64 of {shape}.")
    if not np.isfinite(array).all():
        raise DataError("A sealed method sent NaN or infinite values.")
    return array


def _readable() -> list[str]:
    package = Path(__file__).parents[2]
    places = (sys.prefix, sys.base_prefix, str(package), *sys.path)
    return [str(Path(place).resolve()) for place in dict.fromkeys(places) if place]


def _environment() -> dict[str, str]:
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    package = Path(__file__).parents[3]
    path = [str(Path(place).resolve()) for place in (str(package), *sys.path) if place]
    return {
        **environment,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(path)),
        "HOME": "/nonexistent",
    }


SEALED = "sealed"
"""Part of the protocol name in records of sealed methods."""


def evaluate_sealed(
    method: SealedMethod, stream: ClassStream, *, listener: Listener = SILENT
) -> StreamResult:
    """Like :func:`nodegraft.evaluation.protocol.evaluate`, but for a sealed method.

    Query labels, the split and hidden nodes are not sent to the sealed process.
    """
    results = []
    for session in stream:
        with Measurement() as work:
            if session.index == 0:
                method.fit(session.view, stream.curriculum)
            else:
                method.add_classes(session.view, session.support)
        # Training runs in the sealed process, so use the memory that it reports.
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
