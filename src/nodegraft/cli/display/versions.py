"""Versions of a store, in a terminal."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.store.journal import Version
from nodegraft.store.store import Store

SHOWN = 8
"""So many rows of a list are shown."""


def show_version(place: Path, make: Callable[[Store], Version]) -> None:
    """Make a version of a store, and say what it did.

    Args:
        place: The folder of the store.
        make: Makes it.
    """
    with Store.open(place) as store:
        version = make(store)
        Console().print(version_line(version, store.champion))


def version_line(version: Version, champion: int) -> Text:
    """What a version did, and how to go on.

    Args:
        version: The version.
        champion: The one that answers.
    """
    found = Text(f"Version {version.number}: {_what(version)}.")
    flipped, asked = version.measures.get("flipped"), version.measures.get("asked")
    if flipped is not None:
        found.append(f" {flipped:,} of {asked:,} nodes are answered differently.")
    answers = f"Version {champion} goes on answering until you promote another one."
    if champion == version.number:
        answers = "It answers from now on."
    found.append(f" {answers}", style="dim")
    return found


def _what(version: Version) -> str:
    detail: dict[str, Any] = version.detail
    match version.action:
        case "add" | "relabel":
            return f"{version.action} {_counts(detail['classes'])}"
        case "label":
            return f"label {_counts(detail['more'])}"
        case "unlabel":
            count = len(detail["keys"])
            return f"unlabel {count} node{'s' if count > 1 else ''}"
        case "remove":
            return f"remove {', '.join(detail['names'])}"
        case "rename":
            return f"rename {detail['old']} to {detail['new']}"
        case "merge":
            return f"merge {', '.join(detail['names'])} into {detail['into']}"
        case "split":
            return f"split {detail['name']} into {_counts(detail['parts'])}"
        case "grow" | "sync":
            told = {name.replace("_", " "): count for name, count in detail.items() if count}
            return f"{version.action}: " + ", ".join(f"{n:,} {name}" for name, n in told.items())
        case "undo":
            return f"undo version {detail['version']}"
        case "prune":
            return f"prune {numbered(detail['versions'])}"
        case "purge":
            return f"purge {detail['nodes']:,} nodes from version {detail['instead_of']}"
    return version.action


def _counts(classes: dict[str, list[Any]]) -> str:
    shown = [f"{name} ({len(keys)})" for name, keys in list(classes.items())[:SHOWN]]
    more = len(classes) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def numbered(numbers: list[int]) -> str:
    """Versions, in few words.

    >>> numbered([2, 3, 4, 7])
    'versions 2-4, 7'

    Args:
        numbers: Theirs, ascending.
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return f"{'version' if len(numbers) == 1 else 'versions'} {', '.join(shown)}"


def history_table(
    versions: list[Version], champion: int, pruned: Collection[int] = frozenset()
) -> Table:
    """All versions, newest first.

    Args:
        versions: Oldest first.
        champion: The one that answers.
        pruned: Those that have nothing left but their row.
    """
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("version", no_wrap=True)
    table.add_column("what and why", overflow="fold")
    table.add_column("by", overflow="fold")
    table.add_column("when (UTC)", no_wrap=True)
    table.add_column("held-out\nright", justify="right", no_wrap=True)
    for version in reversed(versions):
        accuracy = version.measures.get("after", {}).get("accuracy")
        # A note gets a line of its own: beside the rest there is no room for a sentence.
        note = f"\n[dim]{escape(version.note)}[/]" if version.note else ""
        state = " answers" if version.number == champion else ""
        table.add_row(
            f"{version.number}{' pruned' if version.number in pruned else state}",
            escape(_what(version)) + note,
            escape(version.by),
            f"{version.at:%Y-%m-%d %H:%M}",
            "" if accuracy is None else f"{100 * accuracy:.1f} %",
        )
    return table


def answering_version(number: int, champion: int, newest: int) -> Text:
    """Which version answered, and how to ask the newest one.

    Args:
        number: The version that answered.
        champion: The one that answers by default.
        newest: The newest one.
    """
    told = Text(f"Answered by version {number}.", style="dim")
    if number == champion < newest:
        told.append(f" Version {newest} is newer: promote it, or ask it with --version {newest}.")
    return told
