"""Model cards, as files: those that a store keeps, and those that somebody asks for."""

import shlex
from pathlib import Path

from rich.text import Text

from nodegraft.base.errors import DataError
from nodegraft.base.files.folder import WriteOnceFolder
from nodegraft.base.files.sidecar import write_sidecar
from nodegraft.report.card.files import card_files
from nodegraft.store.card import Card
from nodegraft.store.links import CARDS
from nodegraft.store.store import Store


def kept_card(store: Store, version: int) -> Text:
    """Write the card of a version that answers, once and for all; what came of it.

    Args:
        store: The store.
        version: The number of the version.
    """
    folder, name = WriteOnceFolder(store.place / CARDS), f"version-{version}"
    place = store.place / CARDS / f"{name}.md"
    try:
        if not place.exists():
            files = card_files(store.card(version), store.place.resolve().name, name)
            for file, text in files.items():
                folder.write(file, text.encode())
                write_sidecar(store.place / CARDS / file)
    except Exception as error:
        # The version answers, whatever becomes of its card.
        again = shlex.join(["nodegraft", "card", str(store.place), "--version", str(version)])
        told = f"Its card could not be written ({error}). Write it later: {again} --out CARD.md"
        return Text(told, style="yellow")
    return Text(f"Its card: {place}", style="dim")


def write_card(card: Card, store: str, place: Path) -> None:
    """A card where somebody asks for it, and its picture beside it.

    Args:
        card: What there is to say.
        store: The name of the store's folder.
        place: A name that ends in .md.
    """
    for name, text in card_files(card, store, place.stem).items():
        try:
            (place.parent / name).write_text(text, "utf-8")
        except OSError as error:
            raise DataError(f"{place} cannot be written: {error}.") from error
