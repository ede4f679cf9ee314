"""Changes of a store that is being asked: one at a time, each asked for once or more, done once."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

import anyio
from anyio.to_thread import run_sync

from nodegraft.analysis.version import Version
from nodegraft.base.errors import NodegraftError, StoreChangedError
from nodegraft.service.auth.limits import TURN_SECONDS
from nodegraft.service.http_error import HttpError
from nodegraft.service.live.live import LiveVersion
from nodegraft.service.live.writer_process import Workshop
from nodegraft.store.intent import IdempotencyKey
from nodegraft.store.store import Store

ATTEMPTS = 5
"""So often a change is tried where other processes change the same store."""

Value = TypeVar("Value")


class Teaching:
    """The one writer of a process. It works elsewhere; readers go on being answered.

    Args:
        store: What is changed.
        live: What answers.
        workshop: Where versions are made; None for a thread of this process.
    """

    def __init__(self, store: Store, live: LiveVersion, workshop: Workshop | None = None) -> None:
        self._store, self._live, self._workshop = store, live, workshop
        self._turn = anyio.Lock()

    async def done(self, request: IdempotencyKey, make: Callable[[Store], Version]) -> Version:
        """The version that a request makes, or made when it came before.

        Args:
            request: What is asked for, under a key.
            make: Makes the version; it can be sent to another process.
        """

        def work() -> Version:
            version = self._apart(partial(fulfilled, request, make))
            # Whoever taught it and asks next is answered by it.
            self._live.follow()
            return version

        return await self.in_turn(work)

    async def apart(self, work: Callable[[Store], Value]) -> Value:
        """Do some long work with the store when all that came before is done.

        Args:
            work: What to do; it can be sent to another process.
        """
        return await self.in_turn(lambda: self._apart(work))

    async def in_turn(self, work: Callable[[], Value]) -> Value:
        """Do some short work in this process when all that came before is done.

        Args:
            work: What to do.
        """
        async with self._my_turn():
            return await run_sync(work)

    def close(self) -> None:
        """Let the workshop end."""
        if self._workshop:
            self._workshop.close()

    def _apart(self, work: Callable[[Store], Value]) -> Value:
        return self._workshop.do(work) if self._workshop else work(self._store)

    @asynccontextmanager
    async def _my_turn(self) -> AsyncIterator[None]:
        try:
            # Waiting takes no thread: those are for readers.
            with anyio.fail_after(TURN_SECONDS):
                await self._turn.acquire()
        except TimeoutError:
            told = f"Other changes have not ended within {TURN_SECONDS:g} s. Nothing was changed."
            raise HttpError(
                429, "busy", told, "Send it again, with the same key.", {"Retry-After": "10"}
            ) from None
        try:
            yield
        finally:
            self._turn.release()


def fulfilled(
    request: IdempotencyKey,
    make: Callable[[Store], Version],
    store: Store,
    attempts: int = ATTEMPTS,
) -> Version:
    """The version that a request makes in a store, or made when it came before.

    Args:
        request: What is asked for, under a key.
        make: Makes the version.
        store: Where; other processes may change it, too.
        attempts: How often it is tried.
    """
    try:
        return store.made_for(request) or make(store)
    except StoreChangedError:
        if attempts == 1:
            raise
    except NodegraftError:
        # Another process may have done it just after it was looked for.
        if store.made_for(request) is None:
            raise
    return fulfilled(request, make, store, attempts - 1)
