"""Versions of a store, as text and tables."""

from collections.abc import Collection, Iterable

from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.analysis.version import Version, describe_version
from nodegraft.cli.render.values import percent


def version_line(version: Version, live: int, waits: bool = True) -> Text:
    """Return what a new version changed, and which version is live.

    Args:
        waits: Whether the new version waits for review: it differs from the live one.
    """
    line = Text(f"Version {version.number}: {describe_version(version)}.")
    measures = version.measures
    if measures.get("asked"):
        line.append(f" {flips_text(measures['flipped'], measures['asked'])}")
    elif version.action == "refit":
        line.append(" The previous version can no longer be read")
        before, after = (measures[when]["accuracy"] for when in ("before", "after"))
        if before is not None and after is not None:
            line.append(f"; its held-out accuracy was {percent(before)}, now {percent(after)}")
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


def flips_text(flipped: int, asked: int, sampled_from: int | None = None) -> str:
    """Return how many predictions change.

    >>> flips_text(1, 160), flips_text(40, 20_000, 45_000)
    ('1 of 160 predictions changes.', '40 of 20,000 predictions (sampled from 45,000) change.')

    Args:
        sampled_from: Number of nodes, where only a sample was compared.
    """
    sample = "" if sampled_from is None else f" (sampled from {sampled_from:,})"
    verb = "changes" if flipped == 1 else "change"
    return f"{flipped:,} of {asked:,} predictions{sample} {verb}."


def history_table(
    versions: list[Version], live: int, pruned: Collection[int] = frozenset()
) -> Table:
    """Return all versions, newest first."""
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("version", no_wrap=True)
    table.add_column("change and note", overflow="fold")
    table.add_column("by", overflow="fold")
    table.add_column("when (UTC)", no_wrap=True)
    table.add_column("held-out\naccuracy", justify="right", no_wrap=True)
    for version in reversed(versions):
        accuracy = version.measures.get("after", {}).get("accuracy")
        # A note gets a line of its own: the other columns leave no room for a sentence.
        note = f"\n[dim]{escape(version.note)}[/]" if version.note else ""
        state = " live" if version.number == live else ""
        table.add_row(
            f"{version.number}{' pruned' if version.number in pruned else state}",
            escape(describe_version(version)) + note,
            escape(version.by),
            f"{version.at:%Y-%m-%d %H:%M}",
            "" if accuracy is None else percent(accuracy),
        )
    return table


def predicting_version(number: int, live: int, waiting: Version | None) -> Text:
    """Return which version made predictions, and how to use the candidate version.

    Args:
        waiting: Candidate version that waits for review; None if there is none.
    """
    line = Text(f"Predicted by version {number}{' (live)' if number == live else ''}.", style="dim")
    if waiting is not None and number == live:
        line.append(
            f" Version {waiting.number} waits for review: try it with --version {waiting.number}."
        )
    return line
