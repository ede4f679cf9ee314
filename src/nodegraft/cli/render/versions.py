"""Rendering of versions, new stores and previews as text and tables."""

import shlex
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.analysis.version import Version, describe_version
from nodegraft.base.counting import counted
from nodegraft.cli.render import values
from nodegraft.cli.results.store import Finding
from nodegraft.cli.terminal import line

if TYPE_CHECKING:
    from nodegraft.analysis.accuracy import CorrectCounts
    from nodegraft.analysis.preview import Preview
    from nodegraft.store.label_changes import LastFit, Refit
    from nodegraft.store.table_changes import TablePreview
    from nodegraft.tables.data_report import DataReport

MAX_ROWS = 8
"""Maximum number of rows of a list to show."""


def creation_line(place: Path, classes: int, labels: int, held_out: "CorrectCounts") -> Text:
    """Return a line with the size and held-out accuracy of a new store."""
    line = f"Created {place}: {counted(classes, 'class')}, {counted(labels, 'label')}."
    if held_out.accuracy is None:
        return Text(f"{line} No label is held out: no class has ten labels.")
    right = sum(held_out.right.values())
    share = values.percent(held_out.accuracy)
    return Text(f"{line} Held-out accuracy {share} ({right:,} of {held_out.nodes:,}).")


def world_line(place: Path, method: str, world: str | None, known_share: float | None) -> Text:
    """Return a line with the setting ``world`` and the share of nodes of known classes.

    Args:
        world: ``open`` or ``closed``; None if the method has no open-set score.
        known_share: Estimated share of unlabelled nodes that belong to known classes.
    """
    if world is None:
        return Text(f"World: closed ({method} has no open-set score).")
    estimate = (
        "There is no estimate of how many unlabelled nodes belong to these classes, so confidence "
        "is the probability alone."
        if known_share is None
        else f"An estimated {100 * known_share:.0f} % of the unlabelled nodes belong to these "
        "classes."
    )
    other = "closed" if world == "open" else "open"
    change = f"To change it: nodegraft settings {shlex.quote(str(place))} world={other}"
    return line(f"World: {world}. {estimate} {change}")


def report_table(report: "DataReport") -> Table:
    """Return a table with the sizes of the input tables, and all findings about them."""
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    sizes = {"nodes": report.nodes, "edges": report.edges, "features": report.features}
    for what, count in sizes.items():
        table.add_row(f"{count:,}", what)
    for finding in report.findings:
        repair = f": {finding.blocking}" if finding.blocking else ""
        table.add_row(f"{finding.count:,}", escape(finding.sentence + repair))
    return table


def report_fields(report: "DataReport") -> dict[str, Any]:
    """Return sizes of the input tables, and findings about them, as fields of a JSON result."""
    findings = [
        Finding(finding.sentence, finding.count, list(finding.examples), finding.blocking)
        for finding in report.findings
    ]
    sizes = {"nodes": report.nodes, "edges": report.edges, "features": report.features}
    return {**sizes, "findings": findings}


def refit_advice(fit: "LastFit") -> Text:
    """Return advice to refit, because many labels were added since the last fit."""
    return Text(
        f"The method was fitted on {counted(fit.labels, 'label')}, and there are "
        f"{fit.labels_now:,} now: nodegraft refit may improve accuracy. The last fit took "
        f"{fit.seconds:,.0f} s."
    )


def refit_line(cost: "Refit") -> Text:
    """Return a warning that a change needs a refit, with the duration of the last fit."""
    return Text(
        f"{cost.method} cannot learn this change incrementally: it is refitted on "
        f"{cost.labels:,} labels. The last fit took {cost.seconds:,.0f} s.",
        style="yellow",
    )


def version_line(version: Version, live: int, waits: bool = True) -> Text:
    """Return a line about a new version: its change, and the number of the live version.

    Args:
        waits: Whether the new version waits for review, because it differs from the live one.
    """
    line = Text(f"Version {version.number}: {describe_version(version)}.")
    measures = version.measures
    if measures.get("asked"):
        line.append(f" {flips_text(measures['flipped'], measures['asked'])}")
    elif version.action == "refit":
        line.append(" The previous version can no longer be read")
        before, after = (measures[when]["accuracy"] for when in ("before", "after"))
        if before is not None and after is not None:
            line.append(
                f"; its held-out accuracy was {values.percent(before)}, now {values.percent(after)}"
            )
        line.append(".")
    if version.number == live:
        return line.append(f" Version {live} is live.", style="dim")
    line.append(f" Version {live} stays live", style="dim")
    return line.append(
        "." if waits else ", and no candidate version waits for review.", style="dim"
    )


def warning_lines(warnings: Iterable[str]) -> list[Text]:
    """Return a line for each warning."""
    return [Text(f"Warning: {sentence}", style="yellow") for sentence in warnings]


def flips_text(flipped: int, compared: int, sampled_from: int | None = None) -> str:
    """Return a sentence with the number of predictions that change.

    >>> flips_text(1, 160), flips_text(40, 20_000, 45_000)
    ('1 of 160 predictions changes.', '40 of 20,000 predictions (sampled from 45,000) change.')

    Args:
        flipped: Number of nodes whose prediction changes.
        compared: Number of compared nodes.
        sampled_from: Number of all nodes, if only a sample was compared.
    """
    sample = "" if sampled_from is None else f" (sampled from {sampled_from:,})"
    verb = "changes" if flipped == 1 else "change"
    return f"{flipped:,} of {compared:,} predictions{sample} {verb}."


def history_table(
    versions: list[Version], live: int, pruned: Collection[int] = frozenset()
) -> Table:
    """Return a table of all versions, newest first."""
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("version", no_wrap=True)
    table.add_column("change and note", overflow="fold")
    table.add_column("by", overflow="fold")
    table.add_column("when (UTC)", no_wrap=True)
    table.add_column("held-out\naccuracy", justify="right", no_wrap=True)
    for version in reversed(versions):
        accuracy = version.measures.get("after", {}).get("accuracy")
        # Put the note on a separate line, because beside the other columns there is no space for
        # it.
        note = f"\n[dim]{escape(version.note)}[/]" if version.note else ""
        state = " live" if version.number == live else ""
        table.add_row(
            f"{version.number}{' pruned' if version.number in pruned else state}",
            escape(describe_version(version)) + note,
            escape(version.by),
            f"{version.at:%Y-%m-%d %H:%M}",
            "" if accuracy is None else values.percent(accuracy),
        )
    return table


def predicting_version(number: int, live: int, waiting: Version | None) -> Text:
    """Return a note with the version that made predictions, and how to use the candidate version.

    Args:
        waiting: Candidate version that waits for review; None if there is none.
    """
    line = Text(f"Predicted by version {number}{' (live)' if number == live else ''}.", style="dim")
    if waiting is not None and number == live:
        line.append(
            f" Version {waiting.number} waits for review: try it with --version {waiting.number}."
        )
    return line


def preview_lines(preview: "Preview", texts: values.Texts) -> RenderableType:
    """Return the preview of a change: changed predictions by class, and accuracy."""
    sampled_from = None if preview.num_compared == preview.nodes else preview.nodes
    lines: list[RenderableType] = [
        Text(flips_text(preview.flipped, preview.num_compared, sampled_from))
    ]
    if preview.inside:
        lines.append(Text(_inside(preview)))
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
            f"{preview.new.totals[name]} examples recognised."
        )
        for name in preview.new.totals
    ]
    lines += gate_lines(preview.objections())
    lines += warning_lines(preview.warnings())
    return Group(*lines)


def table_preview_lines(preview: "TablePreview", texts: values.Texts) -> RenderableType:
    """Return the preview of new tables: changed rows, lost labels and changed predictions."""
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
    lines += gate_lines([*preview.removals(), *preview.missing_label_sentences()])
    if preview.predictions:
        lines.append(preview_lines(preview.predictions, texts))
    return Group(*lines)


def gate_lines(objections: list[str]) -> list[Text]:
    """Return a line for each reason why the quality gate refuses a change."""
    return [Text(f"Quality gate: {sentence}", style="yellow") for sentence in objections]


def _accuracy(preview: "Preview") -> str:
    before, after = preview.before.accuracy, preview.after.accuracy
    if before is None or after is None:
        return "No node is held out, so accuracy before and after is not known."
    return (
        f"Held-out accuracy: {values.percent(before)} before, {values.percent(after)} after "
        f"({preview.before.nodes:,} nodes; ±{100 * (preview.noise or 0.0):.1f} points is within "
        "noise)."
    )


def _inside(preview: "Preview") -> str:
    counts = [f"{name} {count:,}" for name, count in list(preview.inside.items())[:MAX_ROWS]]
    more = len(preview.inside) - MAX_ROWS
    others = f" and {counted(more, 'more ancestor')}" if more > 0 else ""
    rest = preview.flipped - sum(preview.inside.values())
    return (
        f"Changes inside a branch of the class tree: {', '.join(counts)}{others}; other changes: "
        f"{rest:,}."
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


def _examples_table(preview: "Preview", texts: values.Texts) -> Table:
    table = values.NodeTable(box=SIMPLE, pad_edge=False)
    for heading in ("example", "from", "to"):
        table.add_column(heading, overflow="fold")
    table.add_column("confidence", justify="right", no_wrap=True)
    text_cells = values.add_text_column(table, texts)
    for flip, text in zip(preview.examples, text_cells, strict=True):
        cells = (escape(str(flip.node)), escape(flip.before), escape(flip.after))
        table.add_row(*cells, values.likely(flip.confidence), *text)
    return table


def _lost_labels(preview: "TablePreview") -> str:
    most = sorted(preview.lost.items(), key=lambda item: -item[1])
    named = ", ".join(f"{name} ({count:,})" for name, count in most[:MAX_ROWS])
    more = len(most) - MAX_ROWS
    return f"{named} and {more} more" if more > 0 else named
