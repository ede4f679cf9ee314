"""Definition of the fields ``probability``, ``known`` and ``confidence`` of a prediction.

- ``probability``: P(class | the node belongs to a known class), calibrated.
- ``known``: P(the node belongs to any known class), the open-set score.
- ``confidence``: in an open world the product of ``probability`` and ``known``, in a closed world
  ``probability``. ``min_confidence`` is compared with it.

Some models have no open-set score: methods other than graft, and a graft model that was fitted on
too few classes to rehearse with left-out classes. Then ``known`` is NaN (null in JSON and tables),
never 1, and ``confidence`` is ``probability`` in both worlds. In an open world, the note
:data:`NO_ESTIMATE` informs users about it.

A world is *open* if nodes may belong to unknown classes, and *closed* if every node belongs to a
known class. All code that shows or compares a confidence uses this module.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.tabular import Tabular
from nodegraft.graph.keys import Key

Floats = NDArray[np.float64]

World = Literal["open", "closed"]
"""Whether nodes may belong to unknown classes."""

WORLDS: tuple[World, ...] = get_args(World)

DEFAULT_WORLD: World = "open"
"""World of models and stores for which no world was chosen."""

FACTOR = 2.0
"""An explanation mentions the share of known classes if it changes confidence by this factor."""


NO_ESTIMATE = (
    "There is no estimate of how many nodes belong to known classes, so confidence is the "
    "probability alone: nodes of unknown classes are not recognised."
)
"""Note for users in an open world if the model has no open-set score."""


def confidence(probability: Floats, known: Floats, world: World) -> Floats:
    """Return the confidence of predictions.

    >>> confidence(np.array([0.6]), np.array([0.5]), "open").tolist()
    [0.3]
    >>> confidence(np.array([0.6]), np.array([0.5]), "closed").tolist()
    [0.6]
    >>> confidence(np.array([0.6]), np.array([np.nan]), "open").tolist()
    [0.6]

    Args:
        probability: P(class | the node belongs to a known class).
        known: P(the node belongs to any known class); NaN without an estimate.
        world: Whether nodes may belong to unknown classes.
    """
    if world == "closed":
        return probability
    return probability * np.where(np.isnan(known), 1.0, known)


def known_at_even_share(known: float, share: float) -> float:
    """Return the value that `known` would have if half of all nodes belonged to known classes.

    >>> round(known_at_even_share(0.25, 0.25), 2)
    0.5

    Args:
        known: P(the node belongs to any known class), computed with the estimated share.
        share: Estimated share of unlabelled nodes that belong to known classes.
    """
    even, other = known * (1.0 - share), (1.0 - known) * share
    return even / (even + other) if even + other else known


def share_note(probability: float, known: float, share: float | None, world: World) -> str | None:
    """Return a note if the open-set score is missing, or the estimated share matters a lot.

    >>> share_note(0.6, 0.08, 0.25, "closed") is None
    True
    >>> print(share_note(0.6, 0.08, 0.25, "open"))
    Confidence is 4.8 %; it would be 12.4 % if half of the unlabelled nodes belonged to known \
classes. The estimate for this graph is that 25 % do. If every node does, declare the world closed.

    Args:
        probability: P(class | the node belongs to a known class).
        known: P(the node belongs to any known class); NaN without an estimate.
        share: Estimated share of unlabelled nodes that belong to known classes; None without an
            estimate.
        world: Whether nodes may belong to unknown classes; if not, the estimate is not used.

    Returns:
        One or more sentences; None if the estimate changes the confidence by at most
        :data:`FACTOR`.
    """
    if world == "closed":
        return None
    if np.isnan(known):
        return NO_ESTIMATE
    if share is None:
        return None
    even = known_at_even_share(known, share)
    if max(known, even) <= FACTOR * min(known, even):
        return None
    advice = " If every node does, declare the world closed." if even > known else ""
    return (
        f"Confidence is {100 * probability * known:.1f} %; it would be "
        f"{100 * probability * even:.1f} % if half of the unlabelled nodes belonged to known "
        f"classes. The estimate for this graph is that {100 * share:.0f} % do.{advice}"
    )


@dataclass(frozen=True, repr=False)
class PredictionTable(Tabular):
    """Predictions of a model, one row for each node."""

    nodes: list[Key]
    """Keys of the nodes."""

    predictions: list[str]
    """Most likely class of each node."""

    probability: Floats
    """P(class | the node belongs to a known class)."""

    known: Floats
    """P(the node belongs to any known class); NaN without an estimate."""

    world: World
    """Whether nodes may belong to unknown classes."""

    @property
    def confidence(self) -> Floats:
        """Confidence of each prediction (:func:`confidence`)."""
        return confidence(self.probability, self.known, self.world)

    def __len__(self) -> int:
        return len(self.nodes)

    def to_arrow(self) -> Any:
        """Return a table with the columns node, prediction, confidence, probability and known."""
        # Import pyarrow here, because its import is slow and most callers only read the attributes.
        import pyarrow as pa

        return pa.table(
            {
                "node": self.nodes,
                "prediction": pa.array(self.predictions, pa.string()),
                "confidence": self.confidence,
                "probability": self.probability,
                "known": pa.array(self.known, mask=np.isnan(self.known)),
            }
        )
