"""A store as its readers know it: which versions there are, and what they answer."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from nodegraft.base.errors import StoreError
from nodegraft.graph.keys import Key
from nodegraft.store.journal import DATABASE_FILES, Journal, Promotion, Version, database_url
from nodegraft.store.migration import require_current
from nodegraft.store.request import Request

if TYPE_CHECKING:
    from nodegraft.graph.graph import Graph
    from nodegraft.store.answers import Answers
    from nodegraft.store.drift import Shift
    from nodegraft.store.preview import Preview
    from nodegraft.store.state import State, States
    from nodegraft.store.suggestion import Suggestion

SETTINGS, FORMAT = "store.json", 1
"""The file that makes a folder a store, and what it says of its form."""


class StoreReader:
    """A folder with versions of a model.

    Args:
        place: The folder.
        journal: What was done to it.
    """

    def __init__(self, place: Path, journal: Journal) -> None:
        self.place = place
        self._journal = journal

    @cached_property
    def _states(self) -> "States":
        # Models are slow to import, and much that is asked of a store needs none.
        from nodegraft.store.objects import Objects
        from nodegraft.store.state import States

        return States(Objects(self.place / "objects"))

    @classmethod
    def open(cls, place: str | Path) -> Self:
        """The store in a folder.

        Args:
            place: What :meth:`nodegraft.Store.init` made.
        """
        folder = Path(place).expanduser()
        try:
            settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
            number, database = settings["format"], settings["database"]
        except FileNotFoundError as error:
            raise StoreError(
                f"{folder} is no store: {SETTINGS} is missing. Make one with `nodegraft init`."
            ) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{folder / SETTINGS} cannot be read: {error}.") from error
        if number != FORMAT:
            raise StoreError(
                f"{folder} has format {number!r}, this nodegraft reads {FORMAT}: use the version "
                "of nodegraft that made it."
            )
        if database is None and not (folder / DATABASE_FILES[0]).exists():
            raise StoreError(
                f"{folder / DATABASE_FILES[0]} is gone, and with it what the versions were: bring "
                "it back from a copy."
            )
        journal = Journal(database_url(folder, database))
        try:
            require_current(journal)
            journal.version()
        except StoreError:
            journal.close()
            raise
        return cls(folder, journal)

    def close(self) -> None:
        """Let go of the database."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def history(self) -> list[Version]:
        """All versions, oldest first."""
        return self._journal.versions()

    def version(self, number: int | None = None) -> Version:
        """One version: what was done, and what it is kept in.

        Args:
            number: Which one; None for the candidate.
        """
        return self._journal.version(number)

    def made_for(self, request: Request) -> Version | None:
        """The version that a request made when it came before; None if it did not.

        Args:
            request: The request; one whose key was used for something else is refused.
        """
        version = self._journal.version_for(request.key)
        if version is not None:
            request.require_same(Request(**version.measures["request"]))
        return version

    def promotions(self) -> list[Promotion]:
        """Which version answered from when on, oldest first."""
        return self._journal.promotions()

    @property
    def candidate(self) -> int:
        """The newest version."""
        return self._journal.version().number

    @property
    def champion(self) -> int:
        """The version that answers."""
        return self._journal.promotions()[-1].version

    def state(self, version: int | None = None) -> "State":
        """Graph, labels and model of a version.

        Args:
            version: Its number; None for the champion.
        """
        found = self._journal.version(self.champion if version is None else version)
        return self._state(found)

    def graph(self, version: int | None = None) -> "Graph":
        """The graph of a version, without its model.

        Args:
            version: Its number; None for the candidate.
        """
        return self._states.graph(self._journal.version(version).graph)

    def predict(
        self,
        nodes: Sequence[Key] | None = None,
        *,
        version: int | None = None,
        top: int = 1,
        min_confidence: float | None = None,
    ) -> "Answers":
        """The class of each node.

        Args:
            nodes: Keys of nodes; None for all.
            version: Which one answers; None for the champion.
            top: How many classes of each, the likeliest first.
            min_confidence: Between 0 and 1: answers that are less sure are kept back.
        """
        from nodegraft.store.answers import answered

        number = self.champion if version is None else version
        state = self.state(number)
        rows = state.graph.rows if nodes is None else state.graph.rows_of(nodes)
        return answered(state, rows, number, top, min_confidence)

    def explain(self, node: Key, version: int | None = None) -> dict[str, Any]:
        """Why a node is answered as it is.

        Args:
            node: Its key.
            version: Which one answers; None for the champion.
        """
        state = self.state(version)
        return state.model.explain(state.graph, node)

    def suggest(self, count: int = 10, version: int | None = None) -> "list[Suggestion]":
        """Which nodes to label next: unsure ones, each standing for others like it.

        Args:
            count: How many.
            version: Which one is unsure; None for the candidate.
        """
        from nodegraft.store.suggestion import suggestions

        return suggestions(self.state(self.candidate if version is None else version), count)

    def drift(self, before: int | None = None, after: int | None = None) -> "list[Shift]":
        """How far answers, confidence, edges and features have moved between two versions.

        Args:
            before: The version that is compared with; None for the champion.
            after: The version of today; None for the candidate.
        """
        from nodegraft.store.drift import shifts

        return shifts(self.state(before), self.state(self.candidate if after is None else after))

    def diff(self, before: int, after: int) -> "Preview":
        """Which nodes two versions answer differently.

        Args:
            before: The number of one.
            after: The number of the other.
        """
        from nodegraft.store.preview import compare

        return compare(self.state(before), self.state(after))

    def _state(self, version: Version) -> "State":
        return self._states.get(version.names)
