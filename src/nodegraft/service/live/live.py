"""Live version of a store in memory: an immutable object that is replaced as a whole.

Every second, a thread reads from the store which version is live. It loads a new live version while
the old one stays in use, then replaces the reference. Any process or host may promote versions.
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
"""Interval in seconds at which the live version is read from the store."""

LOG = logging.getLogger("nodegraft.service")


@dataclass(frozen=True)
class Live:
    """Loaded live version.

    Each request reads the reference to it only once, so that it uses a single version.
    """

    row: Version
    """Row of the version in the history."""

    state: State
    """Graph, labels and model, with warm caches for predictions."""

    @property
    def version(self) -> int:
        """Number of the version."""
        return self.row.number

    @property
    def world(self) -> World:
        """Whether nodes may belong to unknown classes, which changes the meaning of confidence."""
        return self.state.model.world

    @property
    def cache_key(self) -> tuple[Hashable, World]:
        """Cache key of predictions: the version, and whether its world is open or closed."""
        return row_key(self.row), self.world

    @property
    def fields(self) -> dict[str, Any]:
        """Response fields about this version."""
        return self.row.fields


def row_key(version: Version) -> Hashable:
    """Return a key that identifies a version; its number may be ambiguous.

    After a database was restored from a backup, the same number may be used for a different
    version.
    """
    return version.number, version.at, version.names


class LiveVersion:
    """Loader that follows the live version of a store, whichever process or host promoted it.

    The old version stays in use until the new version is loaded.

    Args:
        store: Store whose live version is loaded.
        on_swap: Function that is called with each version that becomes live.
        on_prune: Function that is called to clear caches after versions were pruned or nodes were
            purged.
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
        self._problem = ""  # Last error, stored so that it is logged only once.
        self._thread = Thread(target=self._watch, name="follower", daemon=True)
        self.now = self._load(self._live_row())
        on_swap(self.now)

    def follow(self) -> None:
        """Load the version that is live now; log an error if the store cannot be read."""
        with self._lock:
            try:
                pruned = self._store.pruned().keys()
                version = self._live_row()
                if version != self.now.row:
                    self.now = self._load(version)
                    self._on_swap(self.now)
                else:
                    # If the setting `world` has changed, confidence is computed differently.
                    state = self.now.state.in_world(self._store.parts.settings.declared_world)
                    if state is not self.now.state:
                        self.now = Live(version, state)
                # Clear caches after the live version was replaced: before, requests may still cache
                # the old version.
                if pruned != self._known_pruned:
                    self._known_pruned = pruned
                    self._on_prune()
                self._problem = ""
            except Exception as error:
                # After any error, continue with the version that was loaded last.
                if repr(error) != self._problem:
                    LOG.exception("cannot follow the store")
                self._problem = repr(error)

    def start(self) -> None:
        """Start the thread that follows the store, until :meth:`stop`."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread that follows the store."""
        self._ending.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ending.wait(FOLLOW_SECONDS):
            self.follow()

    def _live_row(self) -> Version:
        return self._store.version(self._store.live)

    def _load(self, version: Version) -> Live:
        state = self._store.state(version.number)
        # Predict one node to fill the caches that all predictions need.
        state.predict(state.graph.targets[:1])
        _ = state.label_of
        return Live(version, state)
