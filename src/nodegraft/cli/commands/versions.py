"""Commands of the help panel Versions: history, diff, promote, rollback, discard and undo."""

import shlex
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from nodegraft.analysis.results.comparisons import Diff
from nodegraft.analysis.results.versions import HistoryEntry
from nodegraft.cli.changes import make_version, open_store, written_card
from nodegraft.cli.options import AuthorOptions, StorePlace, VersionNumber
from nodegraft.cli.output import Output, command
from nodegraft.cli.render.versions import history_table, preview_lines
from nodegraft.cli.results.store import History, NewVersion, Promoted
from nodegraft.cli.terminal import Terminal

if TYPE_CHECKING:
    from nodegraft.analysis.version import Promotion
    from nodegraft.store.store import Store


@command
def history(place: StorePlace) -> Output[History]:
    """List all versions: change, author, note, held-out accuracy, and which one is live."""
    with open_store(place, several_labels=True) as store:
        versions, live, pruned = store.history(), store.live, store.pruned()
        waiting, newest = store.waiting(), store.newest
    value = History(
        live=live,
        newest=newest,
        candidate=None if waiting is None else waiting.number,
        pruned=sorted(pruned),
        history=list(map(HistoryEntry.of, reversed(versions))),
    )
    return Output(value, (history_table(versions, live, pruned),))


@command
def diff(
    place: StorePlace,
    terminal: Terminal,
    before: Annotated[
        int | None,
        typer.Argument(
            help="Version number; by default the live version, or the one that was live before it."
        ),
    ] = None,
    after: Annotated[
        int | None,
        typer.Argument(help="Version number; by default the waiting version, or the live one."),
    ] = None,
) -> Output[Diff]:
    """Show which predictions differ between two versions."""
    from nodegraft.store.versions.lineage import diff_result, versions_to_compare

    with open_store(place, terminal) as store:
        terminal.stage("predicting with both versions")
        old, new = versions_to_compare(store, before, after)
        preview, value = diff_result(store, old, new)
        texts = store.texts([node.node for node in preview.examples], new.number)
    versions = f"Version {old.number} compared with version {new.number}:"
    return Output(value, (versions, preview_lines(preview, texts)))


@command
def promote(
    place: StorePlace,
    options: AuthorOptions,
    terminal: Terminal,
    number: Annotated[
        int | None,
        typer.Argument(metavar="[VERSION]", help="Version number; by default the candidate."),
    ] = None,
) -> Output[Promoted]:
    """Make a version live, and write its model card."""
    with open_store(place, terminal, several_labels=True) as store:
        promoted = store.promote(number, intent=options.intent)
        card, card_line = written_card(store, promoted.version)
        text = f"Version {promoted.version} is live."
        quoted = shlex.quote(str(place))
        hints = (f"To go back: nodegraft rollback {quoted}", f"Serve it: nodegraft serve {quoted}")
        return _promoted(store, promoted, card, (text, card_line), hints)


@command
def rollback(place: StorePlace, options: AuthorOptions, terminal: Terminal) -> Output[Promoted]:
    """Make the previously live version live again."""
    with open_store(place, terminal, several_labels=True) as store:
        promoted = store.rollback(intent=options.intent)
        text = f"Version {promoted.version} is live again."
        hints = (f"See all versions with: nodegraft history {shlex.quote(str(place))}",)
        return _promoted(store, promoted, None, (text,), hints)


def _promoted(
    store: "Store",
    promoted: "Promotion",
    card: str | None,
    text: tuple[RenderableType, ...],
    hints: tuple[str, ...],
) -> Output[Promoted]:
    fields = store.version(promoted.version).fields
    value = Promoted(**fields, by=promoted.by, at=promoted.at, card=card)
    return Output(value, text, hints)


@command
def discard(
    place: StorePlace,
    options: AuthorOptions,
    terminal: Terminal,
    number: Annotated[
        int | None,
        typer.Argument(metavar="[VERSION]", help="Number of the candidate version, to be checked."),
    ] = None,
) -> Output[NewVersion]:
    """Discard the candidate version, and continue from the live version."""
    return make_version(
        place,
        lambda store: store.discard(number, intent=options.intent),
        terminal,
        several_labels=True,
    )


@command
def undo(
    place: StorePlace, options: AuthorOptions, terminal: Terminal, number: VersionNumber = None
) -> Output[NewVersion]:
    """Undo the change of one version, and keep all later changes."""
    return make_version(
        place,
        lambda store: store.undo(number, intent=options.intent),
        terminal,
        several_labels=True,
    )


COMMANDS = {
    "history": history,
    "diff": diff,
    "promote": promote,
    "rollback": rollback,
    "discard": discard,
    "undo": undo,
}
