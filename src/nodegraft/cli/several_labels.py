"""Results of commands for stores whose nodes may have several labels."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.analysis.results.label_sets import (
    ClassEffect,
    LabelSetClasses,
    LabelSetComparison,
    LabelSetPredictions,
    NodeClasses,
)
from nodegraft.base.counting import counted
from nodegraft.base.errors import SeveralLabelsError
from nodegraft.cli.output import Output
from nodegraft.cli.render.predictions import MAX_SHOWN, TEXT_WIDTH
from nodegraft.cli.render.values import NodeTable, Texts, add_text_column, likely
from nodegraft.cli.render.versions import flips_text, warning_lines
from nodegraft.cli.terminal import Terminal

if TYPE_CHECKING:
    import pyarrow as pa

    from nodegraft.graph.edges.matrix import IntArray
    from nodegraft.graph.keys import Key
    from nodegraft.store.several_labels import SeveralLabelsStore


def predict_several(
    store: "SeveralLabelsStore",
    number: int,
    targets: "IntArray",
    keys: "Sequence[Key] | None",
    ignore_labels: bool,
    options: dict[str, object],
    end: Text,
    terminal: Terminal,
) -> Output[LabelSetPredictions]:
    """Predict the classes of nodes; a written table has one row for each node and class.

    Args:
        number: Number of the version.
        targets: Row numbers of the nodes; -1 for a key that is not in the graph.
        keys: Keys of the nodes; None to look them up.
        options: Options of the command that are not supported here; refused if given.
        end: Note with the version that predicts.
    """
    for name, value in options.items():
        if value is not None:
            raise SeveralLabelsError(f"The option {name}")
    state, fields = store.state(number), store.version(number).fields
    terminal.stage(f"predicting {counted(targets.size, 'node')}")
    if terminal.format != "table":
        is_short = terminal.format == "text" and not terminal.is_piped
        first = targets[:MAX_SHOWN] if is_short else targets
        block = max(1, first.size)
        (found,) = state.predict_in_blocks(first, number, keys, ignore_labels, block)
        results, text = found.to_results(), tuple[RenderableType, ...]()
        if terminal.format == "text":
            there = [result.node for result in results if result.found]
            known = iter(store.texts(there, number))
            texts = [next(known) if result.found else None for result in results]
            text = (_predictions(results, texts, targets.size - first.size), end)
        return Output(LabelSetPredictions(**fields, predictions=results), text)
    reasons = Counter[str]()

    def tables() -> "Iterator[pa.Table]":
        for part in state.predict_in_blocks(targets, number, keys, ignore_labels):
            table = part.to_arrow()
            reasons.update(table["reason"].to_pylist())
            yield table

    def written() -> str:
        pairs = reasons["own_label"] + reasons["prediction"]
        none = f", {reasons['no_class']:,} without a class" if reasons["no_class"] else ""
        unknown = f", {reasons['unknown_key']:,} not in the graph" if reasons["unknown_key"] else ""
        nodes = counted(targets.size, "node")
        return f"{counted(pairs, 'class')} of {nodes}{none}{unknown}.\n{end.plain}"

    return Output(LabelSetPredictions(**fields, predictions=[]), tables=tables(), written=written)


def comparison_of_several(
    store: "SeveralLabelsStore", preview: Any, note: str
) -> Output[LabelSetComparison]:
    """Return the result of a dry run.

    Args:
        preview: The :class:`~nodegraft.analysis.label_sets.preview.SetPreview`.
        note: Line to end with.
    """
    sampled_from = None if preview.compared == preview.nodes else preview.nodes
    changed = flips_text(preview.changed, preview.compared, sampled_from)
    lines: list[RenderableType] = [Text(changed)]
    if preview.classes:
        lines.append(_effects(preview.classes))
    lines += warning_lines(preview.warnings())
    return Output(LabelSetComparison.of(store.version(), preview), (Group(*lines), note))


def classes_of_several(store: "SeveralLabelsStore", version: int) -> Output[LabelSetClasses]:
    """List the classes of a version."""
    found = LabelSetClasses.of(store.version(version), store.state(version).labels)
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("class", overflow="fold")
    table.add_column("labels", justify="right", no_wrap=True)
    for known in found.classes:
        table.add_row(escape(known.name), f"{known.labels:,}")
    return Output(found, (table,))


def _predictions(results: list[NodeClasses], texts: Texts, remaining: int) -> RenderableType:
    table = NodeTable(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("node", overflow="fold", min_width=len("node"))
    table.add_column("classes, with probability", overflow="fold", min_width=len("classes"))
    cells = add_text_column(table, texts, TEXT_WIDTH)
    for result, text in zip(results, cells, strict=True):
        table.add_row(escape(str(result.node)), _classes(result), *text)
    more = f"{remaining:,} more: write all with --parquet predictions.parquet."
    return Group(table, Text(more)) if remaining else table


def _classes(result: NodeClasses) -> str:
    if not result.classes:
        return "[dim]no class[/]" if result.found else "[dim]unknown key[/]"
    return ", ".join(
        escape(f"{found.class_} {likely(found.probability)}".replace(" %", "\xa0%"))
        + (" (label)" if found.reason == "own_label" else "")
        for found in result.classes
    )


def _effects(effects: Sequence[ClassEffect]) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("class", overflow="fold")
    for heading in ("labels", "predicted", "gained", "lost"):
        table.add_column(heading, justify="right", no_wrap=True)
    for effect in effects:
        numbers = (effect.labels, effect.predicted, effect.gained, effect.lost)
        table.add_row(escape(effect.name), *(f"{number:,}" for number in numbers))
    return table
