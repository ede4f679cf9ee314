"""Predictions of a version for nodes of its graph, or for new rows that are not stored."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.prediction_table import Predictions
from nodegraft.analysis.snapshot import State
from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.constraints import Fraction, OpenFraction, PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.rows_view import RowsView
from nodegraft.graph.keys import Key, KeyArray, KeyType, integer_keys, several
from nodegraft.graph.node_types import KEY
from nodegraft.graph.view import GraphView
from nodegraft.model.back_off import NOTHING, TreeAnswers
from nodegraft.model.best_classes import best_classes, rows_in_block
from nodegraft.model.hooks import Capability
from nodegraft.tables.new_rows import Row, rows_view

Missing = Literal["error", "skip", "null"]
"""What to do with unknown keys: raise an error, skip them, or return a row without a class."""


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
    key_list = keys.tolist() if isinstance(keys, np.ndarray) else several(keys, "node keys")
    rows = graph.node_keys.find(key_list)
    return (rows, key_list) if missing == "null" else (rows[rows >= 0], None)


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
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(block, name) for block in blocks])
        for name in ("columns", "probabilities", "known", "predicted", "probability")
    }
    sets = [members for block in blocks for members in block.sets or ()]
    return replace(
        blocks[0],
        nodes=[node for block in blocks for node in block.nodes],
        labels=[label for block in blocks for label in block.labels],
        sets=None if blocks[0].sets is None else sets,
        **arrays,
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
    key_list: list[Key] | None = None
    if keys is not None:
        rows, key_list = found_rows(state.graph, keys, missing)
    return predict_rows(state, rows, version, *args, keys=key_list, **options)


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
    key_type = column_type(state.graph, keys)
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
            nodes=nodes,
            columns=_expanded(best.columns, is_match, -1),
            names=best.names,
            probabilities=_expanded(best.probabilities, is_match, np.nan),
            known=_expanded(best.known, is_match, np.nan),
            labels=[label_of.get(n) if f else None for n, f in zip(nodes, is_match, strict=True)],
            world=best.world,
            min_confidence=min_confidence,
            ignore_labels=ignore_labels,
            version=version,
            coverage=coverage,
            sets=None if best.sets is None else [next(sets) if f else () for f in is_match],
            sets_note=note,
            rows_note=rows_note,
            ancestors=tree[0],
            predicted=_expanded(answers.places, is_match, NOTHING),
            probability=_expanded(answers.probability, is_match, np.nan),
            key_type=key_type,
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


def column_type(graph: Graph, keys: Sequence[Key] | None) -> KeyType:
    """Return the type of a key column; the keys need not be in the graph."""
    if graph.has_text_keys or keys is None:
        return graph.node_keys.key_type
    fits = integer_keys(keys)[1].tolist()
    fit = all(is_integer or key is None for key, is_integer in zip(keys, fits, strict=True))
    return "integer" if fit else "text"
