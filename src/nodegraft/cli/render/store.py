"""A new store, the tables it was read from, and the cost of refits, as text and tables."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.base.counting import counted
from nodegraft.cli.render.values import percent
from nodegraft.cli.results.store import Finding
from nodegraft.cli.terminal import line

if TYPE_CHECKING:
    from nodegraft.analysis.accuracy import CorrectCounts
    from nodegraft.store.label_changes import LastFit, Refit
    from nodegraft.tables.data_report import DataReport


def creation_line(place: Path, classes: int, labels: int, held_out: "CorrectCounts") -> Text:
    """Return size and held-out accuracy of a new store."""
    line = f"Created {place}: {counted(classes, 'class')}, {counted(labels, 'label')}."
    if held_out.accuracy is None:
        return Text(f"{line} No label is held out: no class has ten labels.")
    right = sum(held_out.right.values())
    share = percent(held_out.accuracy)
    return Text(f"{line} Held-out accuracy {share} ({right:,} of {held_out.nodes:,}).")


def world_line(place: Path, method: str, world: str | None, known_share: float | None) -> Text:
    """Return whether the world is open, and how many nodes belong to known classes.

    Args:
        world: ``open`` or ``closed``; None where the method has no open-set score.
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
    """Return sizes of tables, and every finding about them."""
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    sizes = {"nodes": report.nodes, "edges": report.edges, "features": report.features}
    for what, count in sizes.items():
        table.add_row(f"{count:,}", what)
    for finding in report.findings:
        repair = f": {finding.blocking}" if finding.blocking else ""
        table.add_row(f"{finding.count:,}", escape(finding.told + repair))
    return table


def report_fields(report: "DataReport") -> dict[str, Any]:
    """Return sizes of tables and findings about them, as fields of a result."""
    findings = [
        Finding(finding.told, finding.count, list(finding.examples), finding.blocking)
        for finding in report.findings
    ]
    sizes = {"nodes": report.nodes, "edges": report.edges, "features": report.features}
    return {**sizes, "findings": findings}


def refit_advice(fit: "LastFit") -> Text:
    """Return that many labels were added since the method was last fitted."""
    return Text(
        f"The method was fitted on {counted(fit.labels, 'label')}, and there are "
        f"{fit.labels_now:,} now: nodegraft refit may improve accuracy. The last fit took "
        f"{fit.seconds:,.0f} s."
    )


def refit_line(cost: "Refit") -> Text:
    """Return that a change needs a refit, and how long it takes."""
    return Text(
        f"{cost.method} cannot learn this change incrementally: it is refitted on "
        f"{cost.labels:,} labels. The last fit took {cost.seconds:,.0f} s.",
        style="yellow",
    )
