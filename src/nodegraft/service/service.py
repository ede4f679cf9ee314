"""State of a running service: the store, its live version, the writer, and cached responses."""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import anyio
from anyio.to_thread import run_sync

from nodegraft.analysis.node_map import NodeMap
from nodegraft.analysis.version import Version
from nodegraft.base.errors import NodegraftError, StoreChangedError
from nodegraft.base.memo import Memo
from nodegraft.service.auth.limits import TURN_SECONDS
from nodegraft.service.errors import HttpError
from nodegraft.service.live.live import Live, LiveVersion
from nodegraft.service.live.writer_process import WriterProcess
from nodegraft.service.observability import Metrics
from nodegraft.service.settings import Settings
from nodegraft.store.intent import IdempotencyKey
from nodegraft.store.store import Store

Value = TypeVar("Value")

ATTEMPTS = 5
"""Attempts to make a change while other processes change the same store."""


class Writer:
    """The only writer of a serving process; reading continues meanwhile.

    Args:
        store: The store.
        live: Follows the live version.
        process: Process that makes versions; None for a thread of this process.
    """

    def __init__(
        self, store: Store, live: LiveVersion, process: WriterProcess | None = None
    ) -> None:
        self._store, self._live, self._process = store, live, process
        self._lock = anyio.Lock()

    async def make(self, key: IdempotencyKey, make: Callable[[Store], Version]) -> Version:
        """Make the version of a request; return the existing one if it was made before.

        Args:
            make: Makes the version; it can be pickled.
        """

        return await self.run(partial(make_once, key, make))

    async def run(self, work: Callable[[Store], Value]) -> Value:
        """Run work on the store, after all changes before it.

        Args:
            work: The work; it can be pickled.
        """
        async with self._turn():
            return await run_sync(self._run, work)

    def close(self) -> None:
        """End the writer process."""
        if self._process:
            self._process.close()

    def _run(self, work: Callable[[Store], Value]) -> Value:
        value = self._process.run(work) if self._process else work(self._store)
        # The caller's next request must read the new version if it is live.
        self._live.follow()
        return value

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        try:
            # Waiting here holds no thread, so that readers are not blocked.
            with anyio.fail_after(TURN_SECONDS):
                await self._lock.acquire()
        except TimeoutError:
            message = f"Other changes did not end within {TURN_SECONDS:g} s. Nothing was changed."
            advice = "Send it again, with the same key."
            raise HttpError(429, "busy", message, advice, {"Retry-After": "10"}) from None
        try:
            yield
        finally:
            self._lock.release()


def make_once(
    key: IdempotencyKey,
    make: Callable[[Store], Version],
    store: Store,
    attempts: int = ATTEMPTS,
) -> Version:
    """Make the version of a request in a store; return the existing one if it was made before.

    Args:
        store: The store; other processes may change it at the same time.
    """
    try:
        return store.parts.versions.made_for(key) or make(store)
    except StoreChangedError:
        if attempts == 1:
            raise
    except NodegraftError:
        # Another process may have made it since the check.
        if store.parts.versions.made_for(key) is None:
            raise
    return make_once(key, make, store, attempts - 1)


CACHED = 4
"""Cached responses of each route: the page switches between the live and a candidate version."""


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
