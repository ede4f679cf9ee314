"""Shared state of a running service: store, live version, writer, and cached responses."""

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
"""Maximum number of attempts to make a change while other processes change the store."""


class Writer:
    """Writer that makes all changes of a serving process, one at a time, without blocking reads.

    Args:
        store: Store that is changed.
        live: Live version, which is updated after each change.
        process: Process that makes versions; None to make them in a thread of this process.
    """

    def __init__(
        self, store: Store, live: LiveVersion, process: WriterProcess | None = None
    ) -> None:
        self._store, self._live, self._process = store, live, process
        self._lock = anyio.Lock()

    async def make(self, key: IdempotencyKey, make: Callable[[Store], Version]) -> Version:
        """Make a version; a repeated request returns the version that it made before.

        Args:
            make: Function that makes the version; must be picklable.
        """

        return await self.run(partial(make_once, key, make))

    async def run(self, work: Callable[[Store], Value]) -> Value:
        """Run a function on the store, after all earlier changes.

        Args:
            work: Function of the store; must be picklable.
        """
        async with self._turn():
            return await run_sync(self._run, work)

    def close(self) -> None:
        """End the writer process."""
        if self._process:
            self._process.close()

    def _run(self, work: Callable[[Store], Value]) -> Value:
        value = self._process.run(work) if self._process else work(self._store)
        # Update the live version now, so that the caller's next request reads it.
        self._live.follow()
        return value

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        try:
            # Wait without occupying a thread, so that reads are not blocked.
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
    """Make a version; a repeated request returns the version that it made before.

    Args:
        store: Store to change; other processes may change it at the same time.
        attempts: Maximum number of attempts.
    """
    try:
        return store.parts.versions.made_for(key) or make(store)
    except StoreChangedError:
        if attempts == 1:
            raise
    except NodegraftError:
        # After the check above, another process may have made this version.
        if store.parts.versions.made_for(key) is None:
            raise
    return make_once(key, make, store, attempts - 1)


CACHED = 4
"""Maximum number of cached responses per route."""


class ResponseCache:
    """Cache of responses that are slow to compute; each route computes one response at a time."""

    def __init__(self) -> None:
        self._locks = defaultdict[str, anyio.Lock](anyio.Lock)
        self._responses = defaultdict[str, dict[Hashable, Any]](dict)

    def clear(self) -> None:
        """Remove all responses; responses that are being computed will not be cached either."""
        self._responses.clear()

    async def get(self, route: str, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return a cached response, or compute it in a thread; other callers wait without a thread.

        Args:
            key: Values that the response depends on, such as the version number.
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
    """State of a running service: its open store, and everything that its requests share."""

    store: Store
    """Store that is served."""

    live: LiveVersion
    """Live version of the store."""

    writer: Writer
    """Writer that makes changes, one at a time."""

    metrics: Metrics
    """Metrics of requests and of the live version."""

    responses: ResponseCache
    """Cache of responses that are slow to compute."""

    maps: Memo[NodeMap]
    """Cache of node positions by graph; positions do not change when classes do."""

    @classmethod
    def open(
        cls, settings: Settings, metrics: Metrics, writer_process: WriterProcess | None = None
    ) -> "Service":
        """Open the store of a service, and load its live version.

        Args:
            writer_process: Process that makes versions; None to make them in a thread.
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
        """Live version.

        Read it once per request, so that the response uses a single version.
        """
        return self.live.now

    @property
    def name(self) -> str:
        """Name of the store's folder, which is also the name of its model."""
        return self.store.place.resolve().name

    def close(self) -> None:
        """Stop following the live version, end the writer process, and close the store."""
        self.live.stop()
        self.writer.close()
        self.store.close()
