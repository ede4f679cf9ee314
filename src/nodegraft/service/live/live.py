"""The live version as one immutable value, which is replaced as a whole.

A thread asks the store every second which version is live, prepares it beside the current one and
replaces the reference. It makes no difference which process or host promoted the version.
"""

import logging
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import Any

from nodegraft.analysis.snapshot import State
from nodegraft.analysis.version import Version
from nodegraft.model.confidence import World
from nodegraft.store.store import Store

FOLLOW_SECONDS = 1.0
"""Interval at which the store is asked for its live version."""

LOG = logging.getLogger("nodegraft.service")


@dataclass(frozen=True)
class Live:
    """One version, loaded. A request reads it once, so that its response mixes no versions."""

    row: Version
    """Row of the version in the history."""

    state: State
    """Graph, labels and model, with the caches that predictions need."""

    @property
    def version(self) -> int:
        """Number of the version."""
        return self.row.number

    @property
    def world(self) -> World:
        """Whether nodes may belong to unknown classes; it decides what confidence means."""
        return self.state.model.world

    @property
    def cache_key(self) -> tuple[Hashable, World]:
        """Key of cached predictions: the version, and whether nodes may be of unknown classes."""
        return row_key(self.row), self.world

    @property
    def fields(self) -> dict[str, Any]:
        """Fields of a response about this version."""
        return self.row.fields


def row_key(version: Version) -> Hashable:
    """Return a key of a version that no other one has.

    A database that was restored from a copy gives the same numbers to other versions.
    """
    return version.number, version.at, version.names


class LiveVersion:
    """Follows the live version of a store, whichever process or host promoted it.

    The next version is loaded while the current one stays in use.

    Args:
        store: The store.
        on_swap: Is called with every version that becomes live.
        on_prune: Is called when versions were pruned or nodes purged, to clear caches.
    """

    def __init__(
        self,
        store: Store,
        on_swap: Callable[[Live], object] = lambda live: None,
        on_prune: Callable[[], object] = lambda: None,
    ) -> None:
        self._store = store
        self._on_swap, self._on_prune = on_swap, on_prune
        self._known_pruned = store.pruned().keys()
        self._lock = Lock()
        self._ending = Event()
        self._problem = ""  # Logged once, not every second.
        self._thread = Thread(target=self._watch, name="follower", daemon=True)
        self.now = self._load(self._live_row())
        on_swap(self.now)

    def follow(self) -> None:
        """Load the live version of the store now, if the store can be read."""
        with self._lock:
            try:
                pruned = self._store.pruned().keys()
                version = self._live_row()
                if version != self.now.row:
                    self.now = self._load(version)
                    self._on_swap(self.now)
                else:
                    # The setting `world` may have changed, which changes confidence.
                    state = self.now.state.in_world(self._store.parts.settings.declared_world)
                    if state is not self.now.state:
                        self.now = Live(version, state)
                # After the swap: until then, requests may cache responses of the version before.
                if pruned != self._known_pruned:
                    self._known_pruned = pruned
                    self._on_prune()
                self._problem = ""
            except Exception as error:
                # After any error, the last loaded version stays in use.
                if repr(error) != self._problem:
                    LOG.exception("cannot follow the store")
                self._problem = repr(error)

    def start(self) -> None:
        """Follow the store in a thread, until :meth:`stop`."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        self._ending.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ending.wait(FOLLOW_SECONDS):
            self.follow()

    def _live_row(self) -> Version:
        return self._store.version(self._store.live)

    def _load(self, version: Version) -> Live:
        state = self._store.state(version.number)
        # One prediction fills the caches that all others need.
        state.predict(state.graph.rows[:1])
        _ = state.label_of
        return Live(version, state)
