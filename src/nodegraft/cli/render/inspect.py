"""Rendering of suggestions, suspicious labels, drift and method comparisons as text and tables."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.base.counting import counted
from nodegraft.cli.inputs import joined_keys
from nodegraft.cli.render.values import NodeTable, Texts, add_text_column
from nodegraft.cli.terminal import line

if TYPE_CHECKING:
    from nodegraft.analysis.own_labels.comparison import Estimate, Evaluation
    from nodegraft.analysis.results.comparisons import Shift
    from nodegraft.analysis.results.nodes import NewClass, Suggestion, SuspiciousLabel
    from nodegraft.analysis.results.versions import KnownClasses


TEXT_WIDTH = 9
"""Minimum width of the text column."""


def classes_table(found: "KnownClasses") -> RenderableType:
    """Return a table of classes and labels, in which classes are indented below their parent."""
    tree, rows = found.tree, {known.name: known for known in found.classes}
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("class", overflow="fold")
    for heading in ("labels", "held out", "session"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name in tree.in_order(rows):
        title, known = "  " * tree.depth(name) + escape(name), rows.get(name)
        if known is None:
            table.add_row(Text("  " * tree.depth(name) + name, "bold"))
        else:
            table.add_row(title, f"{known.labels:,}", f"{known.held_out:,}", f"{known.session}")
    return table


def suggestions_table(suggestions: "list[Suggestion]", texts: Texts) -> RenderableType:
    """Return a table with a row for each suggested node."""
    if not suggestions:
        return Text("Every node has a label.")
    table = NodeTable(box=SIMPLE, pad_edge=False)
    for heading in ("node", "prediction", "second\nclass"):
        table.add_column(heading, overflow="fold", min_width=len("prediction"))
    table.add_column("similar\nnodes", justify="right", no_wrap=True)
    text_cells = add_text_column(table, texts, TEXT_WIDTH)
    for suggestion, text in zip(suggestions, text_cells, strict=True):
        classes = escape(suggestion.prediction), escape(suggestion.second_class)
        similar = f"{max(suggestion.similar_nodes, 1):.0f}"
        table.add_row(escape(str(suggestion.node)), *classes, similar, *text)
    return table


def new_class_lines(place: Path, groups: "Mapping[NewClass, Texts]") -> Iterator[RenderableType]:
    """Yield each suggested group: its top terms, example nodes, and the command to add it."""
    if not groups:
        yield Text("No group of nodes looks like an unknown class.")
        return
    yield Text("Groups of similar nodes that may be a new class:")
    for group, texts in groups.items():
        terms = f": {', '.join(group.top_terms)}" if group.top_terms else ""
        yield Text(f"\n{group.size:,} nodes{terms}", style="bold")
        table = NodeTable(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(overflow="fold")
        text_cells = add_text_column(table, texts)
        for node, text in zip(group.examples, text_cells, strict=True):
            table.add_row(f"  {escape(str(node))}", *text)
        yield table
        nodes = shlex.quote(joined_keys(group.examples))
        yield line(
            f"  nodegraft add {shlex.quote(str(place))} --class NAME --nodes {nodes} --dry-run"
        )


def drift_table(shifts: "list[Shift]", alarm: float) -> RenderableType:
    """Return a table of drift measures, and a list of the measures above the alarm threshold."""
    table = Table(box=SIMPLE, pad_edge=False)
    for heading in ("measure", "before", "after"):
        table.add_column(heading, overflow="fold")
    for heading in ("distance", "noise"):
        table.add_column(heading, justify="right")
    for shift in shifts:
        cells = (escape(shift.measure), escape(shift.before), escape(shift.after))
        style = "yellow" if shift.alarm else ""
        table.add_row(*cells, f"{shift.distance:.3f}", f"{shift.noise:.3f}", style=style)
    alarms = [shift.measure for shift in shifts if shift.alarm]
    threshold = f"above the alarm threshold ({alarm:g})"
    if alarms:
        return Group(table, Text(f"Drift {threshold}: {', '.join(alarms)}."))
    return Group(table, Text(f"No drift {threshold}."))


def evaluation_lines(evaluation: "Evaluation") -> RenderableType:
    """Return the setting of a comparison, a row for each method, and the recommendation."""
    lines: list[RenderableType] = [Text(_setting(evaluation))]
    if evaluation.plan.left_out:
        lines.append(Text(evaluation.plan.exclusion(), style="yellow"))
    tables = [_methods_table(evaluation)]
    if evaluation.best.in_tree:
        tables.append(_tree_table(evaluation))
    return Group(*lines, *tables, Text(evaluation.advice))


def _setting(evaluation: "Evaluation") -> str:
    setting, seeds = evaluation.plan.setting, counted(evaluation.seeds, "seed")
    return (
        f"Version {evaluation.version}: {setting.base} known classes; {setting.novel} new classes, "
        f"{setting.ways} per session, {counted(setting.shots, 'label')} each; {seeds}; strict "
        "protocol; accuracy averaged over classes."
    )


def _methods_table(evaluation: "Evaluation") -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("method", overflow="fold")
    for heading in (
        "accuracy before\nnew classes, %",
        f"after {evaluation.plan.setting.novel} new\nclasses, %",
        "points lost\nper class",
        "seconds per\nsession",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for measured in evaluation.methods:
        table.add_row(
            escape(measured.method),
            _hundredths(measured.first),
            _hundredths(measured.last),
            _hundredths(measured.loss_per_class),
            _with_noise(measured.session_seconds, 1.0, 2),
        )
    return table


def _tree_table(evaluation: "Evaluation") -> Table:
    table = Table(box=SIMPLE, pad_edge=False, title="In the class tree", title_justify="left")
    table.add_column("method", overflow="fold")
    for heading in (
        "best class\nright, %",
        "in a wrong\nbranch, %",
        "confidence\n≥ 0.9, %",
        "right\nof these, %",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for measured in evaluation.methods:
        table.add_row(escape(measured.method), *map(_hundredths, measured.in_tree.values()))
    return table


def _hundredths(share: "Estimate | None") -> str:
    if share is None:
        return "–"
    return _with_noise(share, 100.0, 1)


def _with_noise(number: "Estimate", unit: float, digits: int) -> str:
    mean = f"{unit * number.mean:.{digits}f}"
    return mean if number.seeds == 1 else f"{mean} ± {unit * number.half_width:.{digits}f}"


def audit_table(
    doubts: "list[SuspiciousLabel]", texts: Texts, place: Path
) -> Iterator[RenderableType]:
    """Yield a table of suspicious labels, the reasons, and the command to correct the first."""
    if not doubts:
        yield Text(
            "No label disagrees with the others: for none is another class likelier. The label of "
            "a class with a single one is not checked."
        )
        return
    table = NodeTable(box=SIMPLE, pad_edge=False)
    for heading in ("node", "label", "suggested"):
        table.add_column(heading, overflow="fold", min_width=len("suggested"))
    text_cells = add_text_column(table, texts, TEXT_WIDTH)
    for suspicious, text in zip(doubts, text_cells, strict=True):
        names = map(escape, (str(suspicious.node), suspicious.label, suspicious.suggested))
        table.add_row(*names, *text)
    yield table
    for suspicious in doubts:
        yield Text(f"{suspicious.node}: {suspicious.reason}")
    first = doubts[0]
    yield Text("To correct a label:")
    command = ["nodegraft", "relabel", str(place), "--class", first.suggested]
    yield line("  " + shlex.join([*command, "--nodes", joined_keys([first.node])]))
