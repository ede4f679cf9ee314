"""Versions of a store, in a terminal."""

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.store.description import what_it_did
from nodegraft.store.rows import Version
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
        show_made(Console(), store, make(store))


def show_made(console: Console, store: Store, version: Version) -> None:
    """What a version did; one that answers at once gets its card.

    Args:
        console: Where to.
        store: The store.
        version: The version, which has just been made.
    """
    champion = store.champion
    console.print(version_line(version, champion))
    for line in warning_lines(version.measures.get("warnings", [])):
        console.print(line)
    if version.number == champion:
        show_card(console, store, champion)


def show_card(console: Console, store: Store, version: int) -> None:
    """Write the card of a version that answers, and say where it is.

    Args:
        console: Where to.
        store: The store.
        version: The number of the version.
    """
    with console.status("writing its card"):
        # A card takes a model, which is slow to import: promoting does not wait for it.
        from nodegraft.cli.display.card import kept_card

        told = kept_card(store, version)
    console.print(told, soft_wrap=True)


def warning_lines(warnings: Iterable[str]) -> list[Text]:
    """Return a line for each warning.

    Args:
        warnings: A sentence each.
    """
    return [Text(f"Warning: {sentence}", style="yellow") for sentence in warnings]


def version_line(version: Version, champion: int) -> Text:
    """What a version did, and how to go on.

    Args:
        version: The version.
        champion: The one that answers.
    """
    found = Text(f"Version {version.number}: {what_it_did(version)}.")
    measured = version.measures
    if measured.get("asked"):
        found.append(f" {flips_text(measured['flipped'], measured['asked'])}")
    elif version.action == "refit":
        found.append(" The version before it cannot be read any more")
        shares = [measured[when]["accuracy"] for when in ("before", "after")]
        if None not in shares:
            old, new = (f"{100 * share:.1f} %" for share in shares)
            found.append(f"; of held-out nodes it answered {old} rightly, this one {new}")
        found.append(".")
    answers = f"Version {champion} goes on answering until you promote another one."
    if champion == version.number:
        answers = "It answers from now on."
    elif version.action == "discard":
        answers = f"Version {champion} stays live, and no candidate version waits for review."
    found.append(f" {answers}", style="dim")
    return found


def flips_text(flipped: int, asked: int, sampled_from: int | None = None) -> str:
    """How many answers change.

    >>> flips_text(1, 160), flips_text(40, 20_000, 45_000)[:46]
    ('1 of 160 nodes is answered differently.', '40 of 20,000 nodes (a fair sample of 45,000) a')

    Args:
        flipped: So many do.
        asked: Of so many.
        sampled_from: How many nodes there are, where only some of them were asked about.
    """
    of_all = "" if sampled_from is None else f" (a fair sample of {sampled_from:,})"
    verb = "is" if flipped == 1 else "are"
    return f"{flipped:,} of {asked:,} nodes{of_all} {verb} answered differently."


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
            escape(what_it_did(version)) + note,
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
