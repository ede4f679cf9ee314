"""What commands that change a store share: make or preview a change, and show it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from nodegraft.base.errors import DataError
from nodegraft.base.events import SILENT, Listener
from nodegraft.cli.options import EditOptions
from nodegraft.cli.progress import StatusLine
from nodegraft.cli.render.preview import preview_lines, table_preview_lines
from nodegraft.cli.render.store import refit_advice, refit_line
from nodegraft.cli.render.versions import promote_line, version_line, warning_lines

if TYPE_CHECKING:
    from nodegraft.analysis.card.card import Card
    from nodegraft.analysis.version import Version
    from nodegraft.store.store import Store
    from nodegraft.store.table_changes import TablePreview

DRY_RUN = "Dry run: nothing was changed."


def open_store(place: Path, listener: Listener = SILENT) -> "Store":
    """Open a store; importing it is slow, so this happens when a command runs.

    Args:
        place: Folder of the store.
        listener: Is told of every step of long work.
    """
    from nodegraft.store.store import Store

    return Store.open(place, listener=listener)


def edit_labels(
    place: Path,
    action: str,
    arguments: "Callable[[Store], dict[str, Any]] | dict[str, Any]",
    options: EditOptions,
    force_name: bool = False,
) -> None:
    """Change classes or labels of a store, or show what would change.

    Args:
        place: Folder of the store.
        action: Name of the change.
        arguments: Arguments of the change, or a function that makes them from the store.
        options: Options of the command.
        force_name: Whether to accept names that differ from others only by case or spaces.
    """
    from nodegraft.analysis.labels.changes import Change

    console = Console()
    status = StatusLine(console)
    with open_store(place, status) as store:
        detail = arguments if isinstance(arguments, dict) else arguments(store)
        change = Change(action, detail).with_forced_name(force_name)
        cost = store.fit_needed(change)
        if cost:
            console.print(refit_line(cost))
        if options.dry_run:
            with status:
                preview = store.preview(change)
            texts = store.texts([flip.node for flip in preview.examples])
            console.print(preview_lines(preview, texts))
            console.print(DRY_RUN, highlight=False)
            return
        with status:
            version = store.change(change, intent=options.intent)
        show_version(console, store, version)
        fit = store.last_fit()
        if fit.is_dated:
            console.print(refit_advice(fit))


def make_version(place: Path, make: "Callable[[Store], Version]") -> None:
    """Make a version of a store, and show what it changed.

    Args:
        place: Folder of the store.
        make: Makes the version.
    """
    console = Console()
    status = StatusLine(console)
    with open_store(place, status) as store:
        with status:
            version = make(store)
        show_version(console, store, version)


def preview_tables(place: Path, compare: "Callable[[Store], TablePreview]") -> None:
    """Show what new tables would change in a store.

    Args:
        place: Folder of the store.
        compare: Makes the preview.
    """
    console = Console()
    with open_store(place) as store:
        with console.status("comparing tables"):
            preview = compare(store)
        examples = preview.predictions.examples if preview.predictions else ()
        texts = store.texts([flip.node for flip in examples])
        console.print(table_preview_lines(preview, texts))
    console.print(DRY_RUN, highlight=False)


def show_version(console: Console, store: "Store", version: "Version") -> None:
    """Show what a new version changed, and the model card of one that is live.

    Args:
        console: Console to print on.
        store: The store.
        version: The new version.
    """
    live, waits = store.live, store.waiting() is not None
    console.print(version_line(version, live, waits))
    for line in warning_lines(version.measures.get("warnings", [])):
        console.print(line)
    if version.number == live:
        show_card(console, store, live)
    elif waits:
        console.print(promote_line(version.number, store.place), soft_wrap=True)


def show_card(console: Console, store: "Store", version: int) -> None:
    """Show where the model card of a live version is; if it failed, the store has logged why.

    Args:
        console: Console to print on.
        store: The store.
        version: Number of the version.
    """
    path = store.card_path(version)
    if path.exists():
        console.print(Text(f"Model card: {path}", style="dim"), soft_wrap=True)


def write_card(card: "Card", store: str, place: Path) -> None:
    """Write a model card and its figures to a file of the user's choice.

    Args:
        card: The card.
        store: Name of the store's folder.
        place: File name that ends in .md.
    """
    from nodegraft.analysis.card.markdown import card_files

    for name, text in card_files(card, store, place.stem).items():
        try:
            (place.parent / name).write_text(text, "utf-8")
        except OSError as error:
            raise DataError(f"{place} cannot be written: {error}.") from error
