"""Differences between two versions, and what new tables would change, as text and tables."""

from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.base.counting import counted
from nodegraft.cli.render.values import NodeTable, Texts, add_text_column, likely, percent
from nodegraft.cli.render.versions import flips_text, warning_lines

if TYPE_CHECKING:
    from nodegraft.analysis.preview import Preview
    from nodegraft.store.table_changes import TablePreview

MAX_ROWS = 8
"""At most this many rows of a list are shown."""


def preview_lines(preview: "Preview", texts: Texts) -> RenderableType:
    """Return how many predictions change, from which class to which, and accuracy."""
    sampled_from = None if preview.asked == preview.nodes else preview.nodes
    lines: list[RenderableType] = [Text(flips_text(preview.flipped, preview.asked, sampled_from))]
    if preview.flips:
        lines.append(_flips_table(preview))
        lines.append(_examples_table(preview, texts))
    lines += [
        Text(f"{count:,} predictions of {old!r}, which is split, become {part!r}.")
        for (old, part), count in preview.parts.items()
    ]
    lines.append(Text(_accuracy(preview)))
    lines += [
        Text(
            f"Split-half check of {name!r}: {preview.new.right[name]} of "
            f"{preview.new.asked[name]} examples recognised."
        )
        for name in preview.new.asked
    ]
    lines += gate_lines(preview.objections())
    lines += warning_lines(preview.warnings())
    return Group(*lines)


def table_preview_lines(preview: "TablePreview", texts: Texts) -> RenderableType:
    """Return what new tables add and remove, classes that lose labels, and predictions."""
    changes, sizes = preview.changes, preview.sizes
    lines: list[RenderableType] = [
        Text(
            f"Nodes: {changes.added:,} added, {changes.removed:,} of {sizes.nodes:,} removed, "
            f"{changes.changed:,} with changed features."
        ),
        Text(
            f"Edges: {changes.edges_added:,} added, {changes.edges_removed:,} of {sizes.edges:,} "
            "removed."
        ),
        Text(f"Labels: {changes.labels_lost:,} of {sizes.labels:,} removed."),
    ]
    if preview.lost:
        classes = counted(len(preview.lost), "class")
        lines.append(Text(f"{classes} would lose labels: {_lost_labels(preview)}."))
    lines += gate_lines([*preview.removals(), *preview.untaught_sentences()])
    if preview.predictions:
        lines.append(preview_lines(preview.predictions, texts))
    return Group(*lines)


def gate_lines(objections: list[str]) -> list[Text]:
    """Return a line for each reason of the quality gate to refuse a change."""
    return [Text(f"Quality gate: {sentence}", style="yellow") for sentence in objections]


def _accuracy(preview: "Preview") -> str:
    before, after = preview.before.accuracy, preview.after.accuracy
    if before is None or after is None:
        return "No node is held out, so accuracy before and after is not known."
    return (
        f"Held-out accuracy: {percent(before)} before, {percent(after)} after "
        f"({preview.before.nodes:,} nodes; ±{100 * (preview.noise or 0.0):.1f} points is within "
        "noise)."
    )


def _flips_table(preview: "Preview") -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("from")
    table.add_column("to")
    table.add_column("nodes", justify="right")
    for (before, after), count in list(preview.flips.items())[:MAX_ROWS]:
        table.add_row(escape(before), escape(after), f"{count:,}")
    rest = sum(list(preview.flips.values())[MAX_ROWS:])
    if rest:
        table.add_row("others", "", f"{rest:,}")
    return table


def _examples_table(preview: "Preview", texts: Texts) -> Table:
    table = NodeTable(box=SIMPLE, pad_edge=False)
    for heading in ("example", "from", "to"):
        table.add_column(heading, overflow="fold")
    table.add_column("confidence", justify="right", no_wrap=True)
    text_cells = add_text_column(table, texts)
    for flip, text in zip(preview.examples, text_cells, strict=True):
        cells = (escape(str(flip.node)), escape(flip.before), escape(flip.after))
        table.add_row(*cells, likely(flip.confidence), *text)
    return table


def _lost_labels(preview: "TablePreview") -> str:
    most = sorted(preview.lost.items(), key=lambda item: -item[1])
    named = ", ".join(f"{name} ({count:,})" for name, count in most[:MAX_ROWS])
    more = len(most) - MAX_ROWS
    return f"{named} and {more} more" if more > 0 else named
