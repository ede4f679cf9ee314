"""Commands of the panel Versions: which version is live, what changed, and how to go back."""

from typing import Annotated

import typer

from nodegraft.cli.errors import user_errors
from nodegraft.cli.options import By, Note, StorePlace, VersionNumber


@user_errors
def history(place: StorePlace) -> None:
    """List all versions: change, author, note, held-out accuracy, and which one is live."""
    from rich.console import Console

    from nodegraft.cli.render.versions import history_table
    from nodegraft.store.store import Store

    with Store.open(place) as store:
        Console().print(history_table(store.history(), store.champion, store.pruned()))


@user_errors
def diff(
    place: StorePlace,
    before: Annotated[int, typer.Argument(help="Version number.")],
    after: Annotated[int, typer.Argument(help="Version number.")],
) -> None:
    """Show which predictions differ between two versions."""
    from rich.console import Console

    from nodegraft.cli.render.preview import preview_lines
    from nodegraft.store.store import Store

    with Store.open(place) as store:
        preview = store.diff(before, after)
        texts = store.texts([flip.node for flip in preview.examples], after)
        Console().print(preview_lines(preview, texts))


@user_errors
def promote(
    place: StorePlace,
    number: VersionNumber = None,
    note: Note = "",
    by: By = None,
) -> None:
    """Make a version live, and write its model card."""
    from rich.console import Console

    from nodegraft.cli.changes import show_card
    from nodegraft.store.intent import Intent
    from nodegraft.store.store import Store

    console = Console()
    with Store.open(place) as store:
        move = store.promote(number, intent=Intent(author=by, note=note))
        console.print(f"Version {move.version} is live.", highlight=False)
        show_card(console, store, move.version)


@user_errors
def rollback(place: StorePlace, note: Note = "", by: By = None) -> None:
    """Make the previously live version live again."""
    from rich.console import Console

    from nodegraft.store.intent import Intent
    from nodegraft.store.store import Store

    with Store.open(place) as store:
        move = store.rollback(intent=Intent(author=by, note=note))
        Console().print(f"Version {move.version} is live again.", highlight=False)


@user_errors
def discard(
    place: StorePlace,
    number: Annotated[
        int | None,
        typer.Argument(metavar="[VERSION]", help="Number of the candidate version, to be checked."),
    ] = None,
    note: Note = "",
    by: By = None,
) -> None:
    """Discard the candidate version: return to the live one, without the changes since."""
    from nodegraft.cli.changes import make_version
    from nodegraft.store.intent import Intent

    intent = Intent(author=by, note=note)
    make_version(place, lambda store: store.discard(number, intent=intent))


@user_errors
def undo(
    place: StorePlace,
    number: VersionNumber = None,
    note: Note = "",
    by: By = None,
) -> None:
    """Undo the change of one version; later changes stay."""
    from nodegraft.cli.changes import make_version
    from nodegraft.store.intent import Intent

    intent = Intent(author=by, note=note)
    make_version(place, lambda store: store.undo(number, intent=intent))


COMMANDS = {
    "history": history,
    "diff": diff,
    "promote": promote,
    "rollback": rollback,
    "discard": discard,
    "undo": undo,
}
