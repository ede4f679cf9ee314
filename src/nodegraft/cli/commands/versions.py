"""Commands of the panel Versions: which version is live, what changed, and how to go back."""

from typing import Annotated

import typer
from rich.console import Console

from nodegraft.cli.changes import make_version, open_store, show_card
from nodegraft.cli.options import AuthorOptions, StorePlace, VersionNumber
from nodegraft.cli.output import command
from nodegraft.cli.render.preview import preview_lines
from nodegraft.cli.render.versions import history_table


@command
def history(place: StorePlace) -> None:
    """List all versions: change, author, note, held-out accuracy, and which one is live."""
    with open_store(place) as store:
        Console().print(history_table(store.history(), store.live, store.pruned()))


@command
def diff(
    place: StorePlace,
    before: Annotated[int, typer.Argument(help="Version number.")],
    after: Annotated[int, typer.Argument(help="Version number.")],
) -> None:
    """Show which predictions differ between two versions."""
    with open_store(place) as store:
        preview = store.diff(before, after)
        texts = store.texts([flip.node for flip in preview.examples], after)
        Console().print(preview_lines(preview, texts))


@command
def promote(
    place: StorePlace,
    options: AuthorOptions,
    number: Annotated[
        int | None,
        typer.Argument(metavar="[VERSION]", help="Version number; by default the candidate."),
    ] = None,
) -> None:
    """Make a version live, and write its model card."""
    console = Console()
    with open_store(place) as store:
        promoted = store.promote(number, intent=options.intent)
        console.print(f"Version {promoted.version} is live.", highlight=False)
        show_card(console, store, promoted.version)


@command
def rollback(place: StorePlace, options: AuthorOptions) -> None:
    """Make the previously live version live again."""
    with open_store(place) as store:
        promoted = store.rollback(intent=options.intent)
    Console().print(f"Version {promoted.version} is live again.", highlight=False)


@command
def discard(
    place: StorePlace,
    options: AuthorOptions,
    number: Annotated[
        int | None,
        typer.Argument(metavar="[VERSION]", help="Number of the candidate version, to be checked."),
    ] = None,
) -> None:
    """Discard the candidate version: return to the live one, without the changes since."""
    make_version(place, lambda store: store.discard(number, intent=options.intent))


@command
def undo(place: StorePlace, options: AuthorOptions, number: VersionNumber = None) -> None:
    """Undo the change of one version; later changes stay."""
    make_version(place, lambda store: store.undo(number, intent=options.intent))


COMMANDS = {
    "history": history,
    "diff": diff,
    "promote": promote,
    "rollback": rollback,
    "discard": discard,
    "undo": undo,
}
