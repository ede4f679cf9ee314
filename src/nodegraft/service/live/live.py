"""The live version as one immutable value, which is replaced as a whole.

A thread asks the store every second which version is live, prepares it beside the current one and
replaces the reference. It makes no difference which process or host promoted the version.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Lock, Thread

from nodegraft.analysis.snapshot import State
from nodegraft.analysis.version import Version
from nodegraft.model.confidence import World
from nodegraft.store.store import Store

FOLLOW_SECONDS = 1.0
"""So often the store is asked whether another version answers."""

LOG = logging.getLogger("nodegraft.service")


@dataclass(frozen=True)
class Live:
    """One version, ready to answer. Whoever answers takes it once: no answer mixes two."""

    row: Version
    """What the store says of it."""

    state: State
    """Graph, labels and model; what the model needs for scores is worked out."""

    @property
    def version(self) -> int:
        """Its number."""
        return self.row.number

    @property
    def world(self) -> World:
        """Whether nodes may belong to unknown classes; it decides what confidence means."""
        return self.state.model.world

    @property
    def cache_key(self) -> tuple[int, World]:
        """What predictions depend on: the version and the world of the store."""
        return self.version, self.world

    @property
    def graph_version(self) -> str:
        """The hash of its graph."""
        return self.row.graph


class LiveVersion:
    """Follows the store's champion, whoever chose it, here or on another host.

    The next version is made ready beside the one that answers, which goes on answering meanwhile.

    Args:
        store: The store.
        swapped: Is told of every version that begins to answer.
        pruned: Is called when versions were pruned or nodes purged, to drop what is cached of them.
    """

    def __init__(
        self,
        store: Store,
        swapped: Callable[[Live], object] = lambda live: None,
        pruned: Callable[[], object] = lambda: None,
    ) -> None:
        self._store = store
        self._swapped, self._pruned = swapped, pruned
        self._known_pruned = store.pruned().keys()
        self._one_at_a_time = Lock()
        self._ending = Event()
        self._trouble = ""  # told once, not every second
        self._thread = Thread(target=self._watch, name="follower", daemon=True)
        self.now = self._made(self._champion())
        swapped(self.now)

    def follow(self) -> None:
        """Be on the store's champion when this ends, if the store can be read."""
        with self._one_at_a_time:
            try:
                self._follow_pruning()
                champion = self._champion()
                if champion != self.now.row:
                    self.now = self._made(champion)
                    self._swapped(self.now)
                else:
                    # Somebody may have declared another world: confidence follows it.
                    state = self.now.state.in_world(self._store.declared_world)
                    if state is not self.now.state:
                        self.now = Live(champion, state)
                self._trouble = ""
            except Exception as error:
                # Whatever it is: the last good version goes on answering.
                if repr(error) != self._trouble:
                    LOG.exception("cannot follow the store")
                self._trouble = repr(error)

    def start(self) -> None:
        """Follow in the background, until :meth:`stop`."""
        self._thread.start()

    def stop(self) -> None:
        """Stop following."""
        self._ending.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ending.wait(FOLLOW_SECONDS):
            self.follow()

    def _follow_pruning(self) -> None:
        pruned = self._store.pruned().keys()
        if pruned != self._known_pruned:
            self._known_pruned = pruned
            self._pruned()

    def _champion(self) -> Version:
        return self._store.version(self._store.live)

    def _made(self, version: Version) -> Live:
        state = self._store.state(version.number)
        # One answer makes the model work out all that it needs for the others.
        state.predict(state.graph.rows[:1])
        # So it does for labels, which every prediction stands beside.
        _ = state.label_of
        return Live(version, state)
