"""Work on a store, in a terminal: how far it is, and what came of it."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.base.counting import counted
from nodegraft.base.events import Listener
from nodegraft.base.progress import step_text
from nodegraft.cli.display.preview import preview_lines
from nodegraft.cli.display.versions import show_made
from nodegraft.store.changes import Change
from nodegraft.store.fitting import LastFit
from nodegraft.store.store import Store
from nodegraft.store.writer import Refit
from nodegraft.tables.data_report import DataReport


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
    place: Path,
    change: Callable[[Store], Change],
    *,
    dry_run: bool = False,
    by: str | None = None,
    note: str = "",
    override: str = "",
    promote: bool = False,
) -> None:
    """Make a change, or only show what it would do.

    Args:
        place: The folder of the store.
        change: Makes the change, from what the store has.
        dry_run: Whether only to show it.
        by: Who does it.
        note: Why.
        override: A reason for doing it although held-out nodes speak against it.
        promote: Whether to let it answer at once.
    """
    console = Console()
    with Store.open(place) as store:
        wanted = change(store)
        cost = store.fit_needed(wanted)
        if cost:
            console.print(refit_line(cost))
        with Steps(console) as steps:
            if dry_run:
                seen = store.preview(wanted, steps)
            else:
                version = store.change(
                    wanted, by=by, note=note, override=override, promote=promote, listener=steps
                )
        if dry_run:
            console.print(preview_lines(seen, store.texts([one.node for one in seen.examples])))
            console.print("Nothing was changed.", highlight=False)
            return
        show_made(console, store, version)
        fit = store.last_fit()
        if fit.is_dated:
            console.print(dated_line(fit))


def fit_again(place: Path, **told: Any) -> None:
    """Fit the method of a store from the start, and say what came of it.

    Args:
        place: The folder of the store.
        told: Other arguments of :meth:`Store.refit`.
    """
    console = Console()
    with Store.open(place) as store:
        with Steps(console) as steps:
            version = store.refit(**told, listener=steps)
        show_made(console, store, version)


def dated_line(fit: LastFit) -> Text:
    """That there are many more labels than the method was fitted on.

    Args:
        fit: The last one.
    """
    return Text(
        f"The method was fitted on {counted(fit.labels, 'label')} and has {fit.labels_now:,} now: "
        f"nodegraft refit may make it better. The last fit took {fit.seconds:,.0f} s."
    )


def refit_line(cost: Refit) -> Text:
    """That a change takes as long as the first version did.

    Args:
        cost: What must be learned again.
    """
    return Text(
        f"{cost.method} cannot learn this by itself: it is fitted again from {cost.labels:,} "
        f"labels. The last time that took {cost.seconds:,.0f} s.",
        style="yellow",
    )


def store_summary(store: Store) -> Text:
    """What a new store knows, and how well.

    Args:
        store: The store.
    """
    first = store.history()[0].measures["after"]
    labels = store.state().labels
    classes = counted(len(labels), "class")
    told = f"{store.place} knows {classes} from {counted(len(labels.owners()), 'label')}."
    if first["accuracy"] is not None:
        asked = sum(first["asked"].values())
        told += (
            f" Of {asked:,} of them, which were held out, {100 * first['accuracy']:.1f} % are "
            "answered rightly."
        )
    return Text(told)


def world_line(store: Store) -> Text:
    """Say in which world confidence is meant, and how many nodes seem to be of known classes.

    Args:
        store: The store.
    """
    state = store.state()
    model = state.model
    if "world" not in model.get_params():
        return Text(f"World: closed ({model.name} has no open-set score).")
    share = model.share_of_known_classes(state.graph)
    estimate = (
        "There is no estimate of how many unlabelled nodes belong to these classes, so confidence "
        "is the probability alone."
        if share is None
        else f"About {100 * share:.0f} % of the unlabelled nodes belong to these classes, by "
        "estimate."
    )
    other = "closed" if model.world == "open" else "open"
    change = f"To change it: nodegraft settings {shlex.quote(str(store.place))} world={other}"
    return Text(f"World: {model.world}. {estimate} {change}")


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
        mended = f": {found.blocking}" if found.blocking else ""
        table.add_row(f"{found.count:,}", escape(found.told + mended))
    return table
