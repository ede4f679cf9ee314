"""Model cards of versions, which a store writes when a version goes live."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from nodegraft.base.files.folder import WriteOnceFolder
from nodegraft.base.files.sidecar import write_sidecar
from nodegraft.store.objects.place import CARDS
from nodegraft.store.parts import StoreParts

if TYPE_CHECKING:
    from nodegraft.analysis.card.card import Card

_LOG = logging.getLogger(__name__)


class ModelCards:
    """Model cards of a store.

    Args:
        parts: Versions, files and settings of the store.
    """

    def __init__(self, parts: StoreParts) -> None:
        self._parts = parts

    def card(self, number: int) -> "Card":
        """Return the model card of a version.

        Args:
            number: Number of the version.
        """
        from nodegraft.analysis.card.card import card_of

        journal = self._parts.journal
        version = self._parts.versions.whole(number)
        history = [row for row in journal.versions() if row.number <= number]
        promotions = journal.promotions()
        first = next((row for row in promotions if row.version == number), None)
        # A card is the same whenever it is written, so later promotions do not count.
        live = {row.version for row in promotions if first and row.number <= first.number}
        names, pruned = self._parts.states.class_names, journal.pruned()
        return card_of(self._parts.state(version), history, first, names, live, pruned)

    def write(self, number: int) -> Path:
        """Write the model card of a version into the store, unless it is there; return its path.

        Args:
            number: Number of the version.
        """
        folder, name = self._parts.place / CARDS, f"version-{number}"
        path = folder / f"{name}.md"
        if not path.exists():
            # Drawing is slow to import, and an existing card needs none of it.
            from nodegraft.analysis.card.markdown import card_files

            files = card_files(self.card(number), self._parts.place.resolve().name, name)
            for file, text in files.items():
                WriteOnceFolder(folder).write(file, text.encode())
                write_sidecar(folder / file)
        return path

    def try_to_write(self, number: int) -> None:
        """Write a model card; log what goes wrong, because the version is live in any case.

        Args:
            number: Number of the version.
        """
        try:
            self.write(number)
        except Exception as error:
            _LOG.warning("The model card of version %s could not be written: %s", number, error)
