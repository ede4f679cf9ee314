"""Table of predictions, with the source of each class: label or prediction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nodegraft.analysis.results.nodes import Reason
from nodegraft.base.tabular import Tabular
from nodegraft.graph.keys import Key, KeyType
from nodegraft.model.back_off import NOTHING, Ancestors
from nodegraft.model.confidence import NO_ESTIMATE, World, confidence


@dataclass(frozen=True, repr=False)
class Predictions(Tabular):
    """Table of predictions with a row for each requested node, in the requested order."""

    nodes: list[Key]
    """Keys of the nodes."""

    columns: NDArray[np.int64]
    """Most probable classes of each node, best first, as indices into ``names``; or -1."""

    names: tuple[str, ...]
    """All classes of the version."""

    probabilities: NDArray[np.float64]
    """P(class | a known class) for each entry of ``columns``; NaN for an unknown key."""

    known: NDArray[np.float64]
    """P(the node belongs to any known class); NaN for an unknown key or without an estimate."""

    labels: list[str | None]
    """Label of each node, given by a user; None for a node without a label."""

    world: World
    """Whether nodes may belong to unknown classes."""

    min_confidence: float | None
    """Confidence threshold below which predictions are withheld; None for no threshold."""

    ignore_labels: bool
    """Whether ``classes`` contains the prediction of a labelled node instead of its label."""

    version: int
    """Number of the version that made the predictions."""

    coverage: float | None
    """Share of nodes whose prediction set is to contain their class; None without such sets."""

    sets: list[tuple[str, ...]] | None
    """Prediction set of each node, most probable class first; None if not requested."""

    sets_note: str | None
    """Sentence on the coverage of prediction sets: the classes for which it holds individually, and
    those for which it holds only together."""

    rows_note: str | None
    """Sentences about values of new rows that are treated as missing; None without any."""

    ancestors: Ancestors | None
    """Ancestors of the classes in the class tree; None without a tree."""

    predicted: NDArray[np.int64]
    """Place of each predicted class in the names of ``ancestors``, -1 if it is withheld; the most
    probable class without a tree."""

    probability: NDArray[np.float64]
    """P(class | the node belongs to a known class) of each predicted class. For an ancestor in the
    class tree, this is the sum over the classes below; for a withheld prediction, it is that of the
    most probable class."""

    key_type: KeyType
    """Type of the column ``node``: the key type of the store, or text if a requested key is not an
    integer below 2**63."""

    @property
    def top(self) -> list[list[str]]:
        """Most probable classes of each node, the most probable first; empty for an unknown key."""
        names = np.array([*self.names, None], dtype=object)
        pairs = zip(names[self.columns].tolist(), self.is_found, strict=True)
        return [classes if there else [] for classes, there in pairs]

    @property
    def leaves(self) -> list[str | None]:
        """Most probable class of each node, also if the prediction is an ancestor or withheld."""
        return self._named(self.columns[:, 0])

    @property
    def depths(self) -> list[int | None]:
        """Number of ancestors of each predicted class in the class tree; None for no prediction."""
        if self.ancestors is None:
            return [0 if is_given else None for is_given in self.is_given]
        depths = self.ancestors.depths[self.predicted].tolist()
        pairs = zip(depths, self.is_given, strict=True)
        return [depth if is_given else None for depth, is_given in pairs]

    @property
    def is_ancestor(self) -> NDArray[np.bool_]:
        """Whether each prediction is an ancestor of the most probable class."""
        return self.predicted >= len(self.names)

    @property
    def confidence(self) -> NDArray[np.float64]:
        """Confidence of each prediction; see :func:`nodegraft.model.confidence.confidence`."""
        return confidence(self.probability, self.known, self.world)

    @property
    def note(self) -> str | None:
        """Warning that confidence ignores unknown classes; None if confidence includes them."""
        missing = self.is_found & np.isnan(self.known)
        return NO_ESTIMATE if self.world == "open" and missing.any() else None

    @property
    def is_found(self) -> NDArray[np.bool_]:
        """Whether each node is in the graph."""
        return self.columns[:, 0] >= 0

    @property
    def is_given(self) -> NDArray[np.bool_]:
        """Whether each node is in the graph and its class or an ancestor has enough confidence."""
        if self.min_confidence is None:
            return self.is_found
        if self.ancestors is not None:
            is_predicted: NDArray[np.bool_] = self.predicted != NOTHING
            return is_predicted
        return self.is_found & (self.confidence >= self.min_confidence)

    @property
    def predictions(self) -> list[str | None]:
        """Predicted class of each node; None if it is withheld or the key is unknown."""
        return self._named(np.where(self.is_given, self.predicted, -1))

    def _named(self, places: NDArray[np.int64]) -> list[str | None]:
        named: list[str | None] = np.array([*self._every_name, None], dtype=object)[places].tolist()
        return named

    @property
    def _every_name(self) -> Sequence[str]:
        """Names of the classes, then of the ancestors in the class tree."""
        return self.names if self.ancestors is None else self.ancestors.names

    @property
    def classes(self) -> list[str | None]:
        """Label of each labelled node, and predicted class of all other nodes."""
        if self.ignore_labels:
            return self.predictions
        pairs = zip(self.labels, self.predictions, strict=True)
        return [predicted if label is None else label for label, predicted in pairs]

    @property
    def reasons(self) -> list[Reason]:
        """Source of each class, or the reason why a node has no class."""
        rows = zip(self.is_found, self.is_given, self.is_ancestor, self.labels, strict=True)
        return [self._reason(*row) for row in rows]

    def _reason(
        self, is_found: bool, is_given: bool, is_ancestor: bool, label: str | None
    ) -> Reason:
        if not is_found:
            return "unknown_key"
        if label is not None and not self.ignore_labels:
            return "own_label"
        if not is_given:
            return "below_confidence"
        return "ancestor" if is_ancestor else "prediction"

    def __len__(self) -> int:
        return len(self.nodes)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a JSON object for each node, in the format of the HTTP service."""
        columns: dict[str, Iterable[Any]] = {
            "node": self.nodes,
            "class": self.classes,
            "label": self.labels,
            "prediction": self.predictions,
            "confidence": _plain_numbers(self.confidence),
            "probability": _plain_numbers(self.probability),
            "known": _plain_numbers(self.known),
            "reason": self.reasons,
            "top": map(_with_probabilities, self.top, self.probabilities.tolist()),
            "set": repeat(None, len(self)) if self.sets is None else map(list, self.sets),
        }
        if self.ancestors is not None:
            columns |= {"leaf": self.leaves, "depth": self.depths}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_arrow(self) -> pa.Table:
        """Return the predictions as an Arrow table.

        The columns are node, class, label, prediction, confidence, probability, known and reason;
        class_1, probability_1 and so on for the most probable classes; set, a list of class names,
        if coverage was requested; and leaf and depth if there is a class tree.
        """
        names, best, unknown = pa.array(self._every_name, pa.string()), self.columns, ~self.is_found
        columns: dict[str, Any] = {
            "node": node_column(self.nodes, self.key_type),
            "class": pa.array(self.classes, pa.string()),
            "label": pa.array(self.labels, pa.string()),
            "prediction": names.take(pa.array(self.predicted, mask=~self.is_given)),
            "confidence": pa.array(self.confidence, mask=unknown),
            "probability": pa.array(self.probability, mask=unknown),
            "known": pa.array(self.known, mask=np.isnan(self.known)),
            "reason": pa.array(self.reasons, pa.string()),
        }
        for place in range(best.shape[1]):
            columns[f"class_{place + 1}"] = names.take(pa.array(best[:, place], mask=unknown))
            columns[f"probability_{place + 1}"] = pa.array(
                self.probabilities[:, place], mask=unknown
            )
        if self.sets is not None:
            columns["set"] = pa.array(map(list, self.sets), pa.list_(pa.string()))
        if self.ancestors is not None:
            columns["leaf"] = columns["class_1"]
            columns["depth"] = pa.array(self.depths, pa.int64())
        return pa.table(columns)


def _with_probabilities(classes: list[str], probabilities: list[float]) -> list[dict[str, Any]]:
    # An unknown key has no classes, but its row of probabilities has as many columns as others.
    pairs = zip(classes, probabilities, strict=False)
    return [{"class": name, "probability": probability} for name, probability in pairs]


def _plain_numbers(values: NDArray[np.float64]) -> list[float | None]:
    # Only NaN differs from itself.
    return [None if value != value else value for value in values.tolist()]


def node_column(nodes: Sequence[Any], key_type: KeyType) -> pa.Array:
    """Return a key column of the given type; keys missing in the graph may have another type."""
    if key_type == "integer":
        return pa.array(nodes, pa.int64())
    return pa.array([None if node is None else str(node) for node in nodes], pa.string())
