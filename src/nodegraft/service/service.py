"""What a running service holds: the store, the version that answers, and who may change it."""

from dataclasses import dataclass

from nodegraft.analysis.node_map import NodeMap
from nodegraft.base.memo import Memo
from nodegraft.service.live.live import Live, LiveVersion
from nodegraft.service.live.prepared import Prepared
from nodegraft.service.live.teaching import Teaching
from nodegraft.service.live.writer_process import Workshop
from nodegraft.service.observability.metrics import Metrics
from nodegraft.service.settings import Settings
from nodegraft.store.store import Store


@dataclass(frozen=True)
class Service:
    """A store that is open, and followed."""

    store: Store
    """The store."""

    live: LiveVersion
    """The version that answers."""

    teaching: Teaching
    """The one writer."""

    metrics: Metrics
    """What is counted."""

    prepared: Prepared
    """What takes long to work out about a version."""

    maps: Memo[NodeMap]
    """Graph -> where its nodes lie: they stay there while classes come and go."""

    @classmethod
    def open(
        cls, settings: Settings, metrics: Metrics, workshop: Workshop | None = None
    ) -> "Service":
        """A service of a store; its first version is ready to answer.

        Args:
            settings: How it is run.
            metrics: What it counts.
            workshop: Where versions are made; None for a thread of this process.
        """
        store = Store.open(settings.store)
        prepared, maps = Prepared(), Memo[NodeMap](most=2)

        def forget() -> None:
            prepared.clear()
            maps.clear()

        live = LiveVersion(store, metrics.swapped, forget)
        live.start()
        return cls(store, live, Teaching(store, live, workshop), metrics, prepared, maps)

    @property
    def now(self) -> Live:
        """The version that answers: take it once for each answer."""
        return self.live.now

    @property
    def name(self) -> str:
        """What its model is called: as the folder of the store."""
        return self.store.place.resolve().name

    def close(self) -> None:
        """Stop following, and let go of the store."""
        self.live.stop()
        self.teaching.close()
        self.store.close()
