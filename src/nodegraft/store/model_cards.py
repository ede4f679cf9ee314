"""Model cards, which a store writes after each promotion; errors in writing are only logged."""

import logging
import shlex
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING

from nodegraft.base.errors import StoreError
from nodegraft.base.files.array_file import write_sidecar
from nodegraft.base.files.folder import WriteOnceFolder
from nodegraft.store.objects.place import CARDS
from nodegraft.store.parts import StoreParts

if TYPE_CHECKING:
    from nodegraft.analysis.card.card import Card

CLOSE_SECONDS = 2.0
"""Timeout in seconds for cards that are still being written when a store is closed."""

_LOG = logging.getLogger(__name__)


class ModelCards:
    """Model cards of a store.

    Args:
        parts: Versions, files and settings of the store.
        in_background: Whether a thread writes the card of a promoted version, so that the promotion
            does not wait for it.
    """

    def __init__(self, parts: StoreParts, in_background: bool = False) -> None:
        self._parts, self._in_background = parts, in_background
        self._threads: list[Thread] = []
        self._lock = Lock()  # Only one card is written at a time.

    def card(self, number: int) -> "Card":
        """Return the model card of a version."""
        from nodegraft.analysis.card.card import card_of

        journal = self._parts.journal
        version = self._parts.versions.whole(number)
        history = [row for row in journal.versions() if row.number <= number]
        promotions = journal.promotions()
        first = next((row for row in promotions if row.version == number), None)
        # Later promotions are ignored, so that a card does not depend on when it is written.
        live = {row.version for row in promotions if first and row.number <= first.number}
        names, pruned = self._parts.states.class_names, journal.pruned()
        return card_of(self._parts.state(version), history, first, names, live, pruned)

    def path(self, number: int) -> Path:
        """Return the path of a version's card in the store, even if the card does not exist."""
        return self._parts.place / CARDS / f"version-{number}.md"

    def write(self, number: int) -> Path:
        """Write the card of a version into the store, unless it exists; return its path."""
        path = self.path(number)
        if not path.exists():
            # Import here, because the drawing module is slow to import and not needed if the card
            # exists.
            from nodegraft.analysis.card.markdown import card_files

            files = card_files(self.card(number), self._parts.place.resolve().name, path.stem)
            for file, text in files.items():
                WriteOnceFolder(path.parent).write(file, text.encode())
                write_sidecar(path.parent / file)
            try:
                # Check again after writing: if the version was purged meanwhile, its card may name
                # purged nodes and is deleted.
                self._parts.versions.whole(number)
            except StoreError:
                for draft in path.parent.glob(f"{path.stem}[.-]*"):
                    draft.unlink(missing_ok=True)
                raise
        return path

    def write_promoted(self, number: int) -> None:
        """Write the card of a promoted version; log an error instead of raising it."""
        if not self._in_background:
            self._try_to_write(number)
            return
        # Do not use a daemon thread, because stopping it inside compiled code would abort the
        # process.
        name = f"model card of version {number}"
        thread = Thread(target=self._try_to_write, args=(number,), name=name)
        self._threads = [thread, *(other for other in self._threads if other.is_alive())]
        thread.start()

    def close(self) -> None:
        """Wait up to CLOSE_SECONDS for cards that are being written."""
        for thread in self._threads:
            thread.join(CLOSE_SECONDS / len(self._threads))
            if thread.is_alive():
                _LOG.warning(
                    "The %s is not finished while the store is closed. If it is missing, write it "
                    "with `nodegraft card`.",
                    thread.name,
                )

    def _try_to_write(self, number: int) -> None:
        try:
            with self._lock:
                self.write(number)
        except Exception as error:
            place = str(self._parts.place)
            command = shlex.join(["nodegraft", "card", place, "--version", str(number)])
            _LOG.warning(
                "Version %s was promoted, but its model card could not be written (%s). Write it "
                "with: %s",
                number,
                error,
                command,
            )
