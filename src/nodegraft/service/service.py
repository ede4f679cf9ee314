"""State of a running service: the store, its live version, the writer, and cached responses."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
from anyio.to_thread import run_sync

from nodegraft.analysis.node_map import NodeMap
from nodegraft.base.memo import Memo
from nodegraft.service.live.live import Live, LiveVersion
from nodegraft.service.live.writer import Writer
from nodegraft.service.live.writer_process import WriterProcess
from nodegraft.service.observability import Metrics
from nodegraft.service.settings import Settings
from nodegraft.store.store import Store

CACHED = 4
"""Cached responses of each route: the page switches between the live and a candidate version."""

Value = TypeVar("Value")


class ResponseCache:
    """Cache of responses that take long to compute; each route computes one at a time."""

    def __init__(self) -> None:
        self._locks = defaultdict[str, anyio.Lock](anyio.Lock)
        self._responses = defaultdict[str, dict[Hashable, Any]](dict)

    def clear(self) -> None:
        """Drop all responses; those that are being computed will not be cached either."""
        self._responses.clear()

    async def get(self, route: str, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return a cached response, or compute it in a thread; waiting callers hold no thread.

        Args:
            key: What the response depends on, such as the number of a version.
        """
        async with self._locks[route]:
            responses = self._responses[route]
            if key not in responses:
                responses[key] = await run_sync(compute)
                if len(responses) > CACHED:
                    del responses[next(iter(responses))]
            value: Value = responses[key]
            return value


@dataclass(frozen=True)
class Service:
    """An open store with all that requests share."""

    store: Store
    """The store."""

    live: LiveVersion
    """Follows the live version of the store."""

    writer: Writer
    """Makes changes, one at a time."""

    metrics: Metrics
    """Counts requests."""

    responses: ResponseCache
    """Responses that take long to compute."""

    maps: Memo[NodeMap]
    """Graph -> positions of its nodes, which stay the same while classes are added or removed."""

    @classmethod
    def open(
        cls, settings: Settings, metrics: Metrics, writer_process: WriterProcess | None = None
    ) -> "Service":
        """Open the store of a service, and load its live version.

        Args:
            writer_process: Process that makes versions; None for a thread of this process.
        """
        store = Store.open(settings.store, background_cards=True)
        responses, maps = ResponseCache(), Memo[NodeMap](most=2)

        def clear() -> None:
            responses.clear()
            maps.clear()

        live = LiveVersion(store, metrics.count_swap, clear)
        live.start()
        return cls(store, live, Writer(store, live, writer_process), metrics, responses, maps)

    @property
    def now(self) -> Live:
        """The live version; a request reads this once, so that its response mixes no versions."""
        return self.live.now

    @property
    def name(self) -> str:
        """Name of the store's folder, which is the name of its model."""
        return self.store.place.resolve().name

    def close(self) -> None:
        """Stop following the live version, end the writer process, and close the store."""
        self.live.stop()
        self.writer.close()
        self.store.close()
