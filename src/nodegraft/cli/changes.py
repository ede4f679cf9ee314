"""What commands that change a store share: make or preview a change, show it, write its card."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.version import Version
from nodegraft.base.errors import DataError
from nodegraft.base.files.folder import WriteOnceFolder
from nodegraft.base.files.sidecar import write_sidecar
from nodegraft.cli.options import EditOptions
from nodegraft.cli.progress import StatusLine
from nodegraft.cli.render.versions import promote_line, version_line, warning_lines
from nodegraft.store.objects.links import CARDS
from nodegraft.store.store import Store

if TYPE_CHECKING:
    from nodegraft.analysis.card.card import Card
    from nodegraft.store.table_preview import TablePreview


def edit_labels(place: Path, make_change: Callable[[Store], Change], options: EditOptions) -> None:
    """Change classes or labels of a store, or show what would change.

    Args:
        place: Folder of the store.
        make_change: Makes the change, from the store.
        options: Options of the command.
    """
    from nodegraft.cli.render.preview import preview_lines
    from nodegraft.cli.render.store import refit_advice, refit_line

    console = Console()
    status = StatusLine(console)
    with Store.open(place, listener=status) as store:
        change = make_change(store)
        cost = store.fit_needed(change)
        if cost:
            console.print(refit_line(cost))
        if options.dry_run:
            with status:
                preview = store.preview(change)
            texts = store.texts([flip.node for flip in preview.examples])
            console.print(preview_lines(preview, texts))
            console.print("Dry run: nothing was changed.", highlight=False)
            return
        with status:
            version = store.change(change, intent=options.intent)
        show_version(console, store, version)
        fit = store.last_fit()
        if fit.is_dated:
            console.print(refit_advice(fit))


def make_version(place: Path, make: Callable[[Store], Version]) -> None:
    """Make a version of a store, and show what it changed.

    Args:
        place: Folder of the store.
        make: Makes the version.
    """
    with Store.open(place) as store:
        show_version(Console(), store, make(store))


def preview_tables(place: Path, compare: "Callable[[Store], TablePreview]") -> None:
    """Show what new tables would change in a store.

    Args:
        place: Folder of the store.
        compare: Makes the preview.
    """
    from nodegraft.cli.render.preview import table_preview_lines

    console = Console()
    with Store.open(place) as store:
        with console.status("comparing tables"):
            preview = compare(store)
        examples = preview.predictions.examples if preview.predictions else ()
        texts = store.texts([flip.node for flip in examples])
        console.print(table_preview_lines(preview, texts))
    console.print("Dry run: nothing was changed.", highlight=False)


def show_version(console: Console, store: Store, version: Version) -> None:
    """Show what a new version changed; write the model card of one that is live.

    Args:
        console: Console to print on.
        store: The store.
        version: The new version.
    """
    live, waits = store.champion, store.waiting() is not None
    console.print(version_line(version, live, waits))
    for line in warning_lines(version.measures.get("warnings", [])):
        console.print(line)
    if version.number == live:
        show_card(console, store, live)
    elif waits:
        console.print(promote_line(version.number, store.place), soft_wrap=True)


def show_card(console: Console, store: Store, version: int) -> None:
    """Write the model card of a live version into the store, and show where it is.

    Args:
        console: Console to print on.
        store: The store.
        version: Number of the version.
    """
    with console.status("writing the model card"):
        line = keep_card(store, version)
    console.print(line, soft_wrap=True)


def keep_card(store: Store, version: int) -> Text:
    """Write the model card of a live version into the store, unless it is there; return a line.

    Args:
        store: The store.
        version: Number of the version.
    """
    folder, name = WriteOnceFolder(store.place / CARDS), f"version-{version}"
    place = store.place / CARDS / f"{name}.md"
    try:
        if not place.exists():
            # The report is slow to import, and an existing card needs none of it.
            from nodegraft.analysis.card.files import card_files

            files = card_files(store.card(version), store.place.resolve().name, name)
            for file, text in files.items():
                folder.write(file, text.encode())
                write_sidecar(store.place / CARDS / file)
    except Exception as error:
        # The version is live already, whether or not its card can be written.
        retry = shlex.join(["nodegraft", "card", str(store.place), "--version", str(version)])
        text = f"The model card could not be written ({error}). Retry: {retry} --out CARD.md"
        return Text(text, style="yellow")
    return Text(f"Model card: {place}", style="dim")


def write_card(card: "Card", store: str, place: Path) -> None:
    """Write a model card and its figure to a file of the user's choice.

    Args:
        card: The card.
        store: Name of the store's folder.
        place: File name that ends in .md.
    """
    from nodegraft.analysis.card.files import card_files

    for name, text in card_files(card, store, place.stem).items():
        try:
            (place.parent / name).write_text(text, "utf-8")
        except OSError as error:
            raise DataError(f"{place} cannot be written: {error}.") from error
