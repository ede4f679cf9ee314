"""Changes of a store that is being served: one at a time, each made once however often it comes."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

import anyio
from anyio.to_thread import run_sync

from nodegraft.analysis.version import Version
from nodegraft.base.errors import NodegraftError, StoreChangedError
from nodegraft.service.auth.limits import TURN_SECONDS
from nodegraft.service.errors import HttpError
from nodegraft.service.live.live import LiveVersion
from nodegraft.service.live.writer_process import WriterProcess
from nodegraft.store.intent import IdempotencyKey
from nodegraft.store.store import Store

ATTEMPTS = 5
"""Attempts to make a change while other processes change the same store."""

Value = TypeVar("Value")


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
