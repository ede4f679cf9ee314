"""Definition of probability, known and confidence of a prediction.

- ``probability``: P(class | the node belongs to a known class), calibrated.
- ``known``: P(the node belongs to any known class), the open-set score.
- ``confidence``: in an open world the product of both, in a closed world the probability. It is
  what ``min_confidence`` is compared with.

Some models have no open-set score: methods other than graft, and a graft that was fitted on too few
classes to practise with some of them left out. Then ``known`` is NaN (null in JSON and tables),
never 1, confidence is the probability in either world, and :data:`NO_ESTIMATE` says so in an open
one.

A world is *open* if nodes may belong to unknown classes, and *closed* if every node belongs to a
known class. Everything that shows or compares a confidence takes it from here.
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
"""Default world of models and stores."""

FACTOR = 2.0
"""An explanation mentions the estimated share of nodes of known classes if it moves confidence by
more than this factor."""


NO_ESTIMATE = (
    "There is no estimate of how many nodes belong to known classes, so confidence is the "
    "probability alone: nodes of unknown classes are not recognised."
)
"""Says what a confidence leaves out in an open world without an open-set score."""


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
        world: Whether nodes may belong to classes that are not known.
    """
    if world == "closed":
        return probability
    return probability * np.where(np.isnan(known), 1.0, known)


def known_at_even_share(known: float, share: float) -> float:
    """Return what `known` would be if half of all nodes belonged to known classes.

    >>> round(known_at_even_share(0.25, 0.25), 2)
    0.5

    Args:
        known: P(the node belongs to any known class), under the estimated share.
        share: Estimated share of unlabelled nodes that belong to known classes.
    """
    even, other = known * (1.0 - share), (1.0 - known) * share
    return even / (even + other) if even + other else known


def share_note(probability: float, known: float, share: float | None, world: World) -> str | None:
    """Say that the estimated share of nodes of known classes is missing or moves confidence much.

    >>> share_note(0.6, 0.08, 0.25, "closed") is None
    True
    >>> print(share_note(0.6, 0.08, 0.25, "open"))
    Confidence is 4.8 %; it would be 12.4 % if half of the unlabelled nodes belonged to known \
classes. The estimate for this graph is that 25 % do. If every node does, declare the world closed.

    Args:
        probability: P(class | the node belongs to a known class).
        known: P(the node belongs to any known class); NaN without an estimate.
        share: Estimated share of unlabelled nodes that belong to known classes; None without one.
        world: In a closed world the estimate is not used.

    Returns:
        A sentence or two, or None where the estimate moves confidence by at most :data:`FACTOR`.
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
    """The most likely class of each node."""

    probability: Floats
    """P(class | the node belongs to a known class)."""

    known: Floats
    """P(the node belongs to any known class); NaN without an estimate."""

    world: World
    """Whether nodes may belong to unknown classes."""

    @property
    def confidence(self) -> Floats:
        """Confidence of each prediction, as :func:`confidence` defines it."""
        return confidence(self.probability, self.known, self.world)

    def __len__(self) -> int:
        return len(self.nodes)

    def to_arrow(self) -> Any:
        """Return a table with the columns node, prediction, confidence, probability and known."""
        # Slow to import, and most callers read the attributes.
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
