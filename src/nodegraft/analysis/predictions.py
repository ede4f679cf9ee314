"""Prediction tables of a version, with the source of each class: label or prediction."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nodegraft.analysis.results.nodes import Reason
from nodegraft.analysis.snapshot import State
from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.constraints import Fraction, OpenFraction, PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.base.tabular import Tabular
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.rows_view import RowsView
from nodegraft.graph.keys import Key, KeyArray, KeyType, integer_keys, several
from nodegraft.graph.node_types import KEY
from nodegraft.graph.view import GraphView
from nodegraft.model.back_off import NOTHING, Ancestors, TreeAnswers
from nodegraft.model.best_classes import best_classes, rows_in_block
from nodegraft.model.confidence import NO_ESTIMATE, World, confidence
from nodegraft.model.hooks import Capability
from nodegraft.tables.new_rows import Row, rows_view

Missing = Literal["error", "skip", "null"]
"""What to do with unknown keys: raise an error, skip them, or return a row without a class."""


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

    answers: NDArray[np.int64]
    """Place of each predicted class in the names of ``ancestors``, -1 if it is withheld; the most
    probable class without a tree."""

    answer_probability: NDArray[np.float64]
    """P(predicted class | the node belongs to a known class); that of the most probable class if
    the prediction is withheld."""

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
        found = self.ancestors.depths[self.answers].tolist()
        return [
            depth if is_given else None
            for depth, is_given in zip(found, self.is_given, strict=True)
        ]

    @property
    def is_ancestor(self) -> NDArray[np.bool_]:
        """Whether each prediction is an ancestor of the most probable class."""
        return self.answers >= len(self.names)

    @property
    def probability(self) -> NDArray[np.float64]:
        """P(class | the node belongs to a known class) of each node's predicted class.

        For an ancestor in the class tree, this is the sum over the classes below. For a withheld
        prediction, it is that of the most probable class.
        """
        return self.answer_probability

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
            is_answered: NDArray[np.bool_] = self.answers != NOTHING
            return is_answered
        return self.is_found & (self.confidence >= self.min_confidence)

    @property
    def predictions(self) -> list[str | None]:
        """Predicted class of each node; None if it is withheld or the key is unknown."""
        return self._named(np.where(self.is_given, self.answers, -1))

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
            "node": _key_column(self.nodes, self.key_type),
            "class": pa.array(self.classes, pa.string()),
            "label": pa.array(self.labels, pa.string()),
            "prediction": names.take(pa.array(self.answers, mask=~self.is_given)),
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


def found_rows(
    graph: Graph, keys: Iterable[Key] | KeyArray, missing: Missing
) -> tuple[NDArray[np.int64], list[Key] | None]:
    """Return the row numbers of keys, and a list of the keys if ``missing`` is ``null``.

    Args:
        missing: How to treat keys that are not in the graph; with ``null``, their row number is -1.
    """
    validate_value("missing", missing, Missing)
    if missing == "error":
        return graph.targets_of(keys), None
    listed = keys.tolist() if isinstance(keys, np.ndarray) else several(keys, "node keys")
    rows = graph.node_keys.find(listed)
    return (rows, listed) if missing == "null" else (rows[rows >= 0], None)


def predict_rows(
    state: State, rows: IntArray, version: int, *args: Any, **options: Any
) -> Predictions:
    """Return the predictions of a version for the given nodes as a single table.

    Args:
        rows: Row numbers of the nodes; -1 for a key that is not in the graph.
        args: Further positional arguments of :func:`predict_in_blocks`.
        options: Further keyword arguments of :func:`predict_in_blocks`.
    """
    blocks = list(predict_in_blocks(state, rows, version, *args, **options))
    sets = [members for block in blocks for members in block.sets or ()]
    return replace(
        blocks[0],
        nodes=[node for block in blocks for node in block.nodes],
        columns=np.concatenate([block.columns for block in blocks]),
        probabilities=np.concatenate([block.probabilities for block in blocks]),
        known=np.concatenate([block.known for block in blocks]),
        labels=[label for block in blocks for label in block.labels],
        sets=None if blocks[0].sets is None else sets,
        answers=np.concatenate([block.answers for block in blocks]),
        answer_probability=np.concatenate([block.answer_probability for block in blocks]),
    )


def predict_keys(
    state: State,
    keys: Iterable[Key] | KeyArray | None,
    version: int,
    *args: Any,
    missing: Missing = "error",
    **options: Any,
) -> Predictions:
    """Return the predictions of a version for the nodes with the given keys.

    Args:
        keys: Keys of the nodes; None for all nodes.
        args: Further positional arguments of :func:`predict_in_blocks`.
        missing: How to treat keys that are not in the graph.
        options: Further keyword arguments of :func:`predict_in_blocks`.
    """
    rows: IntArray = state.graph.targets
    listed: list[Key] | None = None
    if keys is not None:
        rows, listed = found_rows(state.graph, keys, missing)
    return predict_rows(state, rows, version, *args, keys=listed, **options)


def predict_in_blocks(
    state: State,
    rows: IntArray,
    version: int,
    top: int = 1,
    min_confidence: float | None = None,
    *,
    keys: Sequence[Key] | None = None,
    ignore_labels: bool = False,
    coverage: float | None = None,
    beside: RowsView | None = None,
    use_tree: bool = True,
) -> Iterator[Predictions]:
    """Yield the predictions of a version in batches of nodes; at least one batch.

    Args:
        rows: Row numbers of the nodes; -1 for a key that is not in the graph.
        top: Number of most probable classes to return for each node.
        min_confidence: Between 0 and 1: withhold predictions with less confidence, or replace them
            by an ancestor in the class tree.
        keys: Keys of the nodes; None to look them up, if no row number is -1.
        ignore_labels: Whether to return the prediction for a labelled node instead of its label.
        coverage: Between 0 and 1: also return a prediction set for each node, which contains the
            node's class for this share of nodes; None for no sets.
        beside: View of the graph with new rows that are not stored, if ``rows`` are such new rows.
        use_tree: Whether predictions back off to ancestors in the class tree.
    """
    validate_value("top", top, PositiveInt)
    view: GraphView = state.graph
    label_of = state.label_of
    thresholds = note = rows_note = None
    if beside is not None:
        view, label_of, rows_note = beside, {}, " ".join(beside.notes) or None
    if coverage is not None:
        validate_value("coverage", coverage, OpenFraction)
        thresholds = state.set_calibration.thresholds(coverage)
        note = state.set_calibration.note(coverage)
    if min_confidence is not None:
        validate_value("min_confidence", min_confidence, Fraction)
        if Capability.CALIBRATED not in state.model.capabilities():
            raise ParameterError(
                f"{state.model.name} gives no calibrated confidence, so it cannot abstain: omit "
                "min_confidence=… (--min-confidence), or use graft."
            )
    # All batches form one table, so decide the type of its key column before the first batch.
    key_type = _column_type(state.graph, keys)
    tree = (state.ancestors if use_tree else None, min_confidence)

    def block(start: int, stop: int) -> Predictions:
        block_rows = rows[start:stop]
        is_match = block_rows >= 0
        best = best_classes(state.model, view, block_rows[is_match], top, thresholds, *tree)
        answers = best.answers or TreeAnswers(best.columns[:, 0], best.probabilities[:, 0])
        nodes = (
            state.graph.keys_of(block_rows)
            if keys is None
            else list(keys[start : start + block_rows.size])
        )
        sets = iter(best.sets or ())
        return Predictions(
            nodes,
            _expanded(best.columns, is_match, -1),
            best.names,
            _expanded(best.probabilities, is_match, np.nan),
            _expanded(best.known, is_match, np.nan),
            [label_of.get(n) if f else None for n, f in zip(nodes, is_match, strict=True)],
            best.world,
            min_confidence,
            ignore_labels,
            version,
            coverage,
            None
            if best.sets is None
            else [next(sets) if is_found else () for is_found in is_match],
            note,
            rows_note,
            tree[0],
            _expanded(answers.places, is_match, NOTHING),
            _expanded(answers.probability, is_match, np.nan),
            key_type,
        )

    step = rows_in_block(state.model)
    return (block(start, start + step) for start in range(0, max(1, rows.size), step))


def predict_new_rows(
    state: State,
    rows: Iterable[Row],
    version: int,
    *args: Any,
    key: str | Mapping[str, str] = KEY,
    **options: Any,
) -> Predictions:
    """Return the predictions of a version for new rows, without adding them to the graph.

    Args:
        rows: New rows: columns of the node table and, optionally, ``edges``.
        key: Column with the key of each row; or a mapping from node type to column.
        args: Further positional arguments of :func:`predict_in_blocks`.
        options: Further keyword arguments of :func:`predict_in_blocks`.
    """
    view = rows_view(state.graph, rows, key)
    return predict_rows(
        state, view.new_rows, version, *args, keys=view.names, beside=view, **options
    )


def _expanded(values: NDArray[Any], is_found: NDArray[np.bool_], other: float) -> NDArray[Any]:
    """Expand an array of values of found nodes to all nodes; fill in a value for missing nodes."""
    if is_found.all():
        return values
    expanded = np.full((is_found.size, *values.shape[1:]), other, dtype=values.dtype)
    expanded[is_found] = values
    return expanded


def _with_probabilities(classes: list[str], probabilities: list[float]) -> list[dict[str, Any]]:
    # An unknown key has no classes, but its row of probabilities has as many columns as others.
    pairs = zip(classes, probabilities, strict=False)
    return [{"class": name, "probability": probability} for name, probability in pairs]


def _plain_numbers(values: NDArray[np.float64]) -> list[float | None]:
    # Only NaN differs from itself.
    return [None if value != value else value for value in values.tolist()]


def _column_type(graph: Graph, keys: Sequence[Key] | None) -> KeyType:
    """Return the type of a key column; the keys need not be in the graph."""
    if graph.has_text_keys or keys is None:
        return graph.node_keys.key_type
    fits = integer_keys(keys)[1].tolist()
    fit = all(is_integer or key is None for key, is_integer in zip(keys, fits, strict=True))
    return "integer" if fit else "text"


def _key_column(nodes: Sequence[Any], key_type: KeyType) -> pa.Array:
    """Return a key column of the given type; keys missing in the graph may have another type."""
    if key_type == "integer":
        return pa.array(nodes, pa.int64())
    return pa.array([None if node is None else str(node) for node in nodes], pa.string())
