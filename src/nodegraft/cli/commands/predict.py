"""Commands of the help panel Predict and inspect that predict nodes, and explain predictions."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer
from rich.console import RenderableType

from nodegraft.analysis.results.label_sets import LabelSetClasses, LabelSetPredictions
from nodegraft.analysis.results.nodes import Explanation, Prediction, Predictions
from nodegraft.analysis.results.versions import KnownClasses
from nodegraft.base.counting import counted
from nodegraft.base.errors import ParameterError, SeveralLabelsError
from nodegraft.cli.changes import open_store
from nodegraft.cli.inputs import key_from, keys_from, keys_in_table, keys_of_candidate
from nodegraft.cli.options import LiveVersion, StorePlace
from nodegraft.cli.output import Output, command, plain
from nodegraft.cli.render.explanation import explanation_lines
from nodegraft.cli.render.inspect import (
    classes_table,
)
from nodegraft.cli.render.predictions import MAX_SHOWN, predictions_table, written_text
from nodegraft.cli.render.versions import predicting_version
from nodegraft.cli.several_labels import classes_of_several, predict_several
from nodegraft.cli.table_config import columns_beside
from nodegraft.cli.table_files import table_of
from nodegraft.cli.terminal import Terminal

if TYPE_CHECKING:
    import pyarrow as pa

    from nodegraft.analysis.prediction_table import Predictions as PredictionTable
    from nodegraft.graph.edges.matrix import IntArray
    from nodegraft.graph.growth.rows_view import RowsView
    from nodegraft.graph.keys import Key
    from nodegraft.store.several_labels import SeveralLabelsStore
    from nodegraft.store.store import Store


@command
def predict(
    place: StorePlace,
    terminal: Terminal,
    nodes: Annotated[str | None, typer.Option(help="Node keys, separated by commas.")] = None,
    table: Annotated[str | None, typer.Option(help="Table with a column of node keys.")] = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            help="JSON Lines of rows that are not in the graph: columns, and edges such as "
            '[{"type": "needs", "target": "react"}]. They are stored nowhere.'
        ),
    ] = None,
    everyone: Annotated[bool, typer.Option("--all", help="Predict all nodes.")] = False,
    key: Annotated[
        str | None,
        typer.Option(
            help="Column with the node key, in the table; by default that of a nodegraft.toml "
            "beside it, or 'key'."
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option(help="Number of classes shown for each node; 1 by default.")
    ] = None,
    min_confidence: Annotated[
        float | None,
        typer.Option(
            help="Where confidence is lower, from 0 to 1, give the lowest ancestor in the class "
            "tree that reaches it, or abstain."
        ),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(
            help="Also give a set of classes that contains the node's class with this probability, "
            "such as 0.9."
        ),
    ] = None,
    missing: Annotated[
        Literal["error", "skip", "null"] | None,
        typer.Option(
            help="Keys that are not in the graph: refuse them (error), drop them (skip), or give a "
            "row without a class (null). By default null for --table, error for --nodes."
        ),
    ] = None,
    ignore_labels: Annotated[
        bool,
        typer.Option(
            "--ignore-labels", help="Predict labelled nodes too, instead of showing their label."
        ),
    ] = False,
    version: LiveVersion = None,
) -> Output[Predictions | LabelSetPredictions]:
    """Predict the classes of nodes (--nodes, --table or --all), or of new rows (--rows)."""
    from nodegraft.analysis.predictions import found_rows, predict_in_blocks, predict_rows
    from nodegraft.graph.node_types import KEY, key_column
    from nodegraft.tables.new_rows import read_rows, rows_view

    if sum((nodes is not None, table is not None, rows is not None, everyone)) != 1:
        raise ParameterError(
            "Choose the nodes with one of --nodes p17,p20, --table new.parquet, --rows new.jsonl "
            "and --all."
        )
    if rows is not None and (missing or ignore_labels):
        raise ParameterError("--missing and --ignore-labels have no effect on --rows: omit them.")
    with open_store(place, terminal, several_labels=True) as store:
        if store.has_several_labels and rows is not None:
            raise SeveralLabelsError("The option --rows")
        live, waiting = store.live, store.waiting()
        number = live if version is None else version
        state = store.state(number)
        targets: IntArray = state.graph.targets
        keys: list[Key] | None = None
        beside: RowsView | None = None
        if rows is not None:
            beside = rows_view(state.graph, read_rows(rows), store.key_column)
            targets, keys = beside.new_rows, beside.names
        elif nodes is not None:
            with keys_of_candidate(store, waiting if version is None else None):
                node_keys = keys_from(nodes, state.graph, missing in (None, "error"))
            targets, keys = found_rows(state.graph, node_keys, missing or "error")
        elif table is not None:
            columns = store.table_options | {"key": KEY} | columns_beside(store, terminal, table)
            column = key or key_column(columns["key"], state.graph.node_types)
            listed = keys_in_table(table, column, state.graph, columns.get("delimiter"))
            targets, keys = found_rows(state.graph, listed, missing or "null")
        end = predicting_version(number, live, waiting)
        if store.has_several_labels:
            unsupported: dict[str, object] = {
                "--top": top,
                "--min-confidence": min_confidence,
                "--coverage": coverage,
            }
            arguments: Any = (number, targets, keys, ignore_labels, unsupported, end, terminal)
            return predict_several(cast("SeveralLabelsStore", store), *arguments)
        top = 1 if top is None else top
        options: dict[str, Any] = {
            "keys": keys,
            "ignore_labels": ignore_labels,
            "coverage": coverage,
            "beside": beside,
        }
        fields = store.version(number).fields | {"world": store.world}
        terminal.stage(f"predicting {counted(targets.size, 'node')}")
        if terminal.format != "table":
            most = (
                MAX_SHOWN if terminal.format == "text" and not terminal.is_piped else targets.size
            )
            first = predict_rows(state, targets[:most], number, top, min_confidence, **options)
            text: tuple[RenderableType, ...] = ()
            if terminal.format == "text":
                remaining = targets.size - len(first)
                texts = [None] * len(first) if beside else _texts(store, first, number)
                text = (predictions_table(first, texts, remaining, terminal.width), end)
            predictions = cast("list[Prediction]", first.to_rows())
            value = Predictions(
                **fields,
                predictions=predictions,
                sets_note=first.sets_note,
                rows_note=first.rows_note,
            )
            return Output(value, text)
    reasons, notes = Counter[str](), dict[str | None, None]()

    def tables() -> Iterator["pa.Table"]:
        count = 0
        for block in predict_in_blocks(state, targets, number, top, min_confidence, **options):
            count += len(block)
            terminal.step("predict", count, targets.size)
            reasons.update(block.reasons)
            notes.update(dict.fromkeys((block.note, block.rows_note, block.sets_note)))
            yield block.to_arrow()

    def written() -> str:
        return "\n".join([written_text(targets.size, reasons), *filter(None, notes), end.plain])

    nothing = Predictions(**fields, predictions=[], sets_note=None, rows_note=None)
    return Output(nothing, tables=tables(), written=written)


def _texts(store: "Store", answers: "PredictionTable", version: int) -> list[str | None]:
    """Return the texts of nodes; None for a node that is not in the graph."""
    is_found = answers.is_found.tolist()
    there = [node for node, is_there in zip(answers.nodes, is_found, strict=True) if is_there]
    texts = iter(store.texts(there, version))
    return [next(texts) if is_there else None for is_there in is_found]


@command
def classes(
    place: StorePlace, version: LiveVersion = None
) -> Output[KnownClasses | LabelSetClasses]:
    """List the classes of a version, each below its parent in the class tree."""
    with open_store(place, several_labels=True) as store:
        if store.has_several_labels:
            number = store.live if version is None else version
            return classes_of_several(cast("SeveralLabelsStore", store), number)
        row = store.parts.versions.whole(store.live if version is None else version)
        found = KnownClasses.of(row, store.parts.states.labels(row.labels))
    # A table has groups, too: without them it would not be the whole tree.
    empty = dict.fromkeys(KnownClasses.columns())
    rows = [empty | plain(known) for known in (*found.classes, *found.groups)]

    def tables() -> "Iterator[pa.Table]":
        yield table_of(rows, list(empty))

    shown = (classes_table(found),)
    return Output(found, shown, tables=tables(), written=lambda: f"{len(rows):,} rows written.")


@command
def explain(
    place: StorePlace,
    node: Annotated[str, typer.Argument(help="Node key.")],
    terminal: Terminal,
    version: LiveVersion = None,
) -> Output[Explanation]:
    """Explain a prediction: signals, labels and edges that contribute to it."""
    with open_store(place, terminal) as store:
        live, waiting = store.live, store.waiting()
        number = live if version is None else version
        state = store.state(number)
        key = key_from(node, state.graph)
        (text,) = store.texts([key], number)
        fields = store.version(number).fields
    terminal.stage(f"explaining {node}")
    explanation = state.model.explain(state.graph, key)
    label = state.label_of.get(key)
    lines = explanation_lines(key, label, text, explanation, terminal.width)
    value = Explanation(**fields, node=key, label=label, explanation=explanation)
    return Output(value, (lines, predicting_version(number, live, waiting)))


COMMANDS = {"predict": predict, "classes": classes, "explain": explain}
