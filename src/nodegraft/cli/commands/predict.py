"""Commands of the panel Predict and inspect."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer
from rich.console import Console

from nodegraft.base.errors import DataError, ParameterError
from nodegraft.cli.changes import open_store, write_card
from nodegraft.cli.inputs import key_from, keys_from, keys_in_table
from nodegraft.cli.options import LiveVersion, NewestVersion, StorePlace
from nodegraft.cli.output import command, print_line
from nodegraft.cli.progress import StatusLine
from nodegraft.cli.render.explanation import ExplainedNode, explanation_lines
from nodegraft.cli.render.inspect import (
    drift_table,
    evaluation_lines,
    new_class_lines,
    suggestions_table,
)
from nodegraft.cli.render.predictions import (
    MAX_SHOWN,
    predictions_json,
    predictions_table,
    written_text,
)
from nodegraft.cli.render.versions import predicting_version

if TYPE_CHECKING:
    import pyarrow as pa

    from nodegraft.analysis.predictions import Predictions
    from nodegraft.store.store import Store


MAX_GROUPS = 3
"""At most this many groups that may be a new class are shown."""


class MissingKeys(StrEnum):
    """Values of --missing."""

    ERROR = "error"
    SKIP = "skip"
    NULL = "null"


@command
def predict(
    place: StorePlace,
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
    key: Annotated[str, typer.Option(help="Column with the node key, in the table.")] = "key",
    top: Annotated[int, typer.Option(help="Number of classes shown for each node.")] = 1,
    min_confidence: Annotated[
        float | None,
        typer.Option(help="Abstain where confidence is lower, from 0 to 1."),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(
            help="Also give a set of classes that contains the node's class with this probability, "
            "such as 0.9."
        ),
    ] = None,
    missing: Annotated[
        MissingKeys | None,
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
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, as the HTTP service sends it.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write a .parquet or .csv file.")] = None,
    version: LiveVersion = None,
) -> None:
    """Predict the classes of nodes (--nodes, --table or --all), or of new rows (--rows)."""
    from nodegraft.analysis.predictions import found_rows, predict_in_blocks, predict_rows
    from nodegraft.tables.new_rows import read_rows, rows_view

    if as_json and out is not None:
        raise ParameterError("Give --json or --out, not both.")
    if sum((nodes is not None, table is not None, rows is not None, everyone)) != 1:
        raise ParameterError(
            "Choose the nodes with one of --nodes p17,p20, --table new.parquet, --rows new.jsonl "
            "and --all."
        )
    if rows is not None and (missing or ignore_labels):
        raise ParameterError("--missing and --ignore-labels have no effect on --rows: omit them.")
    with open_store(place) as store:
        live, waiting = store.live, store.waiting()
        number = live if version is None else version
        state = store.state(number)
        chosen, keys, beside = state.graph.rows, None, None
        if rows is not None:
            key_column = store.table_options.get("key", "key")
            beside = rows_view(state.graph, read_rows(rows), key_column)
            chosen, keys = beside.new_rows, beside.names
        elif nodes is not None:
            given = keys_from(nodes, state.graph, missing in (None, MissingKeys.ERROR))
            chosen, keys = found_rows(state.graph, given, missing.value if missing else "error")
        elif table is not None:
            delimiter = store.table_options.get("delimiter")
            listed = keys_in_table(table, key, state.graph, delimiter)
            chosen, keys = found_rows(state.graph, listed, missing.value if missing else "null")
        options: dict[str, Any] = {
            "keys": keys,
            "ignore_labels": ignore_labels,
            "coverage": coverage,
            "beside": beside,
        }
        if out is None:
            most = chosen.size if as_json else MAX_SHOWN
            shown = predict_rows(state, chosen[:most], number, top, min_confidence, **options)
            texts = [None] * len(shown) if beside else _texts(store, shown, number)
    console = Console()
    if as_json:
        console.out(
            json.dumps(predictions_json(shown), indent=2, ensure_ascii=False), highlight=False
        )
        return
    if out is None:
        console.print(predictions_table(shown, texts, chosen.size - len(shown), console.width))
        console.print(predicting_version(number, live, waiting))
        return
    reasons, notes = Counter[str](), dict[str | None, None]()

    def tables() -> Iterator["pa.Table"]:
        for block in predict_in_blocks(state, chosen, number, top, min_confidence, **options):
            reasons.update(block.reasons)
            notes.update(dict.fromkeys((block.note, block.sets_note)))
            yield block.to_arrow()

    _write_tables(tables(), out)
    print_line(f"{out}: {written_text(chosen.size, reasons)}", console)
    for note in filter(None, notes):
        console.print(note, highlight=False)
    console.print(predicting_version(number, live, waiting))


def _texts(store: "Store", answers: "Predictions", version: int) -> list[str | None]:
    """Return texts of the nodes; None for those that are not in the graph."""
    found = answers.is_found.tolist()
    there = [node for node, is_there in zip(answers.nodes, found, strict=True) if is_there]
    texts = iter(store.texts(there, version))
    return [next(texts) if is_there else None for is_there in found]


@command
def explain(
    place: StorePlace,
    node: Annotated[str, typer.Argument(help="Node key.")],
    version: LiveVersion = None,
) -> None:
    """Explain a prediction: signals, labels and edges that contribute to it."""
    with open_store(place) as store:
        live, waiting = store.live, store.waiting()
        number = live if version is None else version
        state = store.state(number)
        key = key_from(node, state.graph)
        (text,) = store.texts([key], number)
    explanation = state.model.explain(state.graph, key)
    console = Console()
    described = ExplainedNode(key, state.label_of.get(key), text)
    console.print(explanation_lines(described, explanation, console.width))
    console.print(predicting_version(number, live, waiting))


def _write_tables(tables: "Iterable[pa.Table]", place: Path) -> None:
    """Write tables to a new file, in the format of its name; each is a row group."""
    from pyarrow import csv, parquet

    writers = {".parquet": parquet.ParquetWriter, ".csv": csv.CSVWriter}
    if place.suffix == ".csv":
        tables = map(_with_text_sets, tables)
    if place.suffix not in writers:
        raise ParameterError(f"--out {place} must end in .parquet or .csv.")
    draft = place.with_name(f".{place.name}.{uuid4().hex}")
    parts = iter(tables)
    try:
        first = next(parts)
        with writers[place.suffix](str(draft), first.schema) as writer:
            for part in chain((first,), parts):
                writer.write_table(part)
        draft.replace(place)
    except OSError as error:
        raise DataError(f"{place} cannot be written: {error}.") from error
    finally:
        draft.unlink(missing_ok=True)


def _with_text_sets(table: "pa.Table") -> "pa.Table":
    """Return a table whose sets are JSON text: CSV has no lists."""
    if "set" not in table.column_names:
        return table
    texts = [json.dumps(names, ensure_ascii=False) for names in table["set"].to_pylist()]
    return table.set_column(table.column_names.index("set"), "set", [texts])


@command
def suggest(
    place: StorePlace,
    count: Annotated[int, typer.Option(help="Number of nodes.")] = 10,
    version: NewestVersion = None,
) -> None:
    """Suggest nodes to label next, and groups of nodes that may be a new class."""
    from nodegraft.analysis.suggestions.new_classes import new_classes
    from nodegraft.analysis.suggestions.suggestion import suggestions

    with open_store(place) as store:
        number = store.newest if version is None else version
        # Load the state once for both: its first predictions fill caches.
        state = store.state(number)
        nodes = suggestions(state, count)
        texts = store.texts([suggestion.node for suggestion in nodes], number)
        groups = {
            group: store.texts(group.examples, number) for group in new_classes(state, MAX_GROUPS)
        }
    console = Console()
    console.print(suggestions_table(nodes, texts))
    for lines in new_class_lines(place, groups):
        # Commands are not wrapped, so that they can be copied.
        console.print(lines, soft_wrap=True)


@command
def drift(
    place: StorePlace,
    before: Annotated[
        int | None, typer.Option(help="Version number; by default the live version.")
    ] = None,
    after: Annotated[
        int | None, typer.Option(help="Version number; by default the newest version.")
    ] = None,
) -> None:
    """Compare predictions, confidence, edges and features of two versions."""
    from nodegraft.analysis.drift import ALARM

    with open_store(place) as store:
        Console().print(drift_table(store.drift(before, after), ALARM))


@command
def evaluate(
    place: StorePlace,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method", help="Method to compare; by default the store's and several others."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of random draws of classes and labels.")] = 5,
    shots: Annotated[int, typer.Option(help="Labels of each new class.")] = 5,
    version: NewestVersion = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for a report with figures and JSON.")
    ] = None,
) -> None:
    """Compare methods on your labels: accuracy, and the cost of each new class."""
    from nodegraft.base.files.folder import WriteOnceFolder

    console = Console()
    if out is not None:
        # A missing extra or an unwritable folder is reported before the long work.
        from nodegraft.lab.report.site import write_evaluation

        WriteOnceFolder(out).check_writable()
    with StatusLine(console) as status, open_store(place, status) as store:
        evaluation = store.evaluate(methods, seeds=seeds, shots=shots, version=version)
    console.print(evaluation_lines(evaluation))
    if out is not None:
        page = write_evaluation(evaluation, place.resolve().name, out)
        print_line(f"report: {page}", console)


@command
def card(
    place: StorePlace,
    version: LiveVersion = None,
    out: Annotated[
        Path | None, typer.Option(help="Write a .md file, with its figures beside it.")
    ] = None,
) -> None:
    """Show the model card of a version; write it into the store if it was live and has none."""
    from nodegraft.analysis.card.markdown import card_markdown

    if out is not None and out.suffix != ".md":
        raise ParameterError(f"--out {out} must end in .md.")
    with open_store(place) as store:
        content = store.card(version)
        if content.promotion is not None:
            # The card must be shown to users who may only read the store, too.
            with suppress(OSError):
                store.write_card(version)
    console, name = Console(), place.resolve().name
    if out is None:
        console.out(card_markdown(content, name), end="", highlight=False)
        return
    write_card(content, name, out)
    print_line(f"card: {out}", console)


COMMANDS = {
    "predict": predict,
    "explain": explain,
    "suggest": suggest,
    "drift": drift,
    "evaluate": evaluate,
    "card": card,
}
