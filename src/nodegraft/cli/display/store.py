"""What a store looks like in a terminal."""

from typing import Any

from rich.box import SIMPLE
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.base.events import Listener
from nodegraft.base.progress import step_text
from nodegraft.cli.display.shares import likely
from nodegraft.store.answers import Answers
from nodegraft.store.changes import Change
from nodegraft.store.journal import Version
from nodegraft.store.preview import Preview
from nodegraft.store.store import Store
from nodegraft.tables.data_report import DataReport

SHOWN = 8
"""So many rows of a list are shown."""

MOST_ANSWERS = 50
"""So many answers are shown; more belong in a file."""


class Steps(Listener):
    """Says how far a long piece of work is, on one line that goes when it is done.

    Args:
        console: Where to.
    """

    def __init__(self, console: Console) -> None:
        self._status = console.status("working")

    def __enter__(self) -> "Steps":
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def say(self, what: str) -> None:
        """Show what is being done.

        Args:
            what: In a few words.
        """
        self._status.update(what)

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        """Show where a stage is."""
        self._status.update(step_text(stage, done, total, **numbers))


def carry_out(
    store: Store,
    change: Change,
    *,
    dry_run: bool = False,
    by: str | None = None,
    note: str = "",
    override: str = "",
) -> None:
    """Make a change, or only show what it would do.

    Args:
        store: The store.
        change: The change.
        dry_run: Whether only to show it.
        by: Who does it.
        note: Why.
        override: A reason for doing it although held-out nodes speak against it.
    """
    console = Console()
    with Steps(console) as steps:
        if dry_run:
            seen = store.preview(change, steps)
        else:
            version = store.change(change, by=by, note=note, override=override, listener=steps)
    if dry_run:
        console.print(preview_lines(seen))
        console.print("Nothing was changed.", highlight=False)
        return
    console.print(version_line(version, store.champion))


def preview_lines(seen: Preview) -> RenderableType:
    """How many answers change, from where to where, and at what cost.

    Args:
        seen: What was compared.
    """
    of_all = "" if seen.asked == seen.nodes else f" (a fair sample of {seen.nodes:,})"
    lines: list[RenderableType] = [
        Text(f"{seen.flipped:,} of {seen.asked:,} nodes{of_all} are answered differently.")
    ]
    if seen.flips:
        lines.append(_flips_table(seen))
        lines.append(_examples_table(seen))
    lines.append(Text(_cost(seen)))
    lines += [
        Text(
            f"Labels of {name!r} that the other labels of it recognise: {seen.new.right[name]} of "
            f"{seen.new.asked[name]}."
        )
        for name in seen.new.asked
    ]
    lines += [Text(f"Against it: {told}", style="yellow") for told in seen.objections()]
    return Group(*lines)


def _cost(seen: Preview) -> str:
    if seen.before.accuracy is None or seen.after.accuracy is None:
        return "No node is held out, so nothing can be said of what is forgotten."
    return (
        f"Held-out nodes answered rightly: {100 * seen.before.accuracy:.1f} % before, "
        f"{100 * seen.after.accuracy:.1f} % after (of {seen.before.nodes:,}; "
        f"{100 * (seen.noise or 0.0):.1f} points more or less can be chance)."
    )


def _flips_table(seen: Preview) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("from")
    table.add_column("to")
    table.add_column("nodes", justify="right")
    for (before, after), count in list(seen.flips.items())[:SHOWN]:
        table.add_row(escape(before), escape(after), f"{count:,}")
    rest = sum(list(seen.flips.values())[SHOWN:])
    if rest:
        table.add_row("others", "", f"{rest:,}")
    return table


def _examples_table(seen: Preview) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    for heading in ("for example", "from", "to"):
        table.add_column(heading)
    table.add_column("sure", justify="right")
    for one in seen.examples:
        cells = (escape(str(one.node)), escape(one.before), escape(one.after))
        table.add_row(*cells, likely(one.confidence))
    return table


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
    found.append(
        f" Version {champion} goes on answering until you promote another one.", style="dim"
    )
    return found


def _what(version: Version) -> str:
    detail: dict[str, Any] = version.detail
    match version.action:
        case "add" | "relabel":
            return f"{version.action} {_counts(detail['classes'])}"
        case "label":
            return f"label {_counts(detail['more'])}"
        case "unlabel":
            return f"unlabel {len(detail['keys'])} nodes"
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
    return version.action


def _counts(classes: dict[str, list[Any]]) -> str:
    shown = [f"{name} ({len(keys)})" for name, keys in list(classes.items())[:SHOWN]]
    more = len(classes) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def history_table(versions: list[Version], champion: int) -> Table:
    """All versions, newest first.

    Args:
        versions: Oldest first.
        champion: The one that answers.
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
        table.add_row(
            f"{version.number} answers" if version.number == champion else str(version.number),
            escape(_what(version)) + note,
            escape(version.by),
            f"{version.at:%Y-%m-%d %H:%M}",
            "" if accuracy is None else f"{100 * accuracy:.1f} %",
        )
    return table


def store_summary(store: Store) -> Text:
    """What a new store knows, and how well.

    Args:
        store: The store.
    """
    first = store.history()[0].measures["after"]
    labels = store.state().labels
    classes = "1 class" if len(labels) == 1 else f"{len(labels)} classes"
    told = f"{store.place} knows {classes} from {len(labels.owners()):,} labels."
    if first["accuracy"] is not None:
        asked = sum(first["asked"].values())
        told += (
            f" Of {asked:,} of them, which were held out, {100 * first['accuracy']:.1f} % are "
            "answered rightly."
        )
    return Text(told)


def report_table(report: DataReport) -> Table:
    """What was read, and what is odd about it; long lines go on below their own text.

    Args:
        report: On the tables of nodes and edges.
    """
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    sizes = {"nodes": report.nodes, "edges": report.edges, "features": report.features}
    for what, count in sizes.items():
        table.add_row(f"{count:,}", what)
    for found in report.findings:
        shown = f" (for example {', '.join(found.examples)})" if found.examples else ""
        mended = f": {found.blocking}" if found.blocking else ""
        table.add_row(f"{found.count:,}", escape(found.what + shown + mended))
    return table


def answers_table(answers: Answers) -> RenderableType:
    """One row for each node; where the answer is kept back, what it might have been.

    Every number says how likely the node is of a class, among all that it could be: also of none
    that is known.

    Args:
        answers: What the store said.
    """
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("node", overflow="fold")
    table.add_column("class", overflow="fold")
    table.add_column("sure", justify="right", no_wrap=True)
    given = answers.answers[:MOST_ANSWERS]
    more = answers.probabilities.shape[1] > 1 or None in given
    if more:
        table.add_column("or perhaps")
    shares = answers.probabilities * answers.known[:, None]
    for row, (node, answer) in enumerate(zip(answers.nodes, given, strict=False)):
        first = 0 if answer is None else 1
        others = zip(answers.classes[row][first:], shares[row, first:], strict=True)
        # A number stays on the line of its class.
        told = ", ".join(
            f"{name}\xa0" + likely(share).replace(" ", "\xa0") for name, share in others
        )
        table.add_row(
            escape(str(node)),
            "[dim]abstains[/]" if answer is None else escape(answer),
            likely(answers.confidence[row]),
            *([escape(told)] if more else []),
        )
    if len(answers) <= MOST_ANSWERS:
        return table
    left = f"And {len(answers) - MOST_ANSWERS:,} more: --out answers.csv writes all to a file."
    return Group(table, Text(left))


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
