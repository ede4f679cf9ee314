"""Changes of a store that is being asked: one at a time, each asked for once or more, done once."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio
from anyio.to_thread import run_sync

from nodegraft.base.errors import StoreChangedError
from nodegraft.service.http_error import HttpError
from nodegraft.service.limits import TURN_SECONDS
from nodegraft.service.live import LiveVersion
from nodegraft.store.request import Request
from nodegraft.store.rows import Version
from nodegraft.store.store import Store

ATTEMPTS = 5
"""So often a change is tried where other processes change the same store."""

Value = TypeVar("Value")


class Teaching:
    """The one writer of a process. It works in a thread of its own; readers go on being answered.

    Args:
        store: What is changed.
        live: What answers.
    """

    def __init__(self, store: Store, live: LiveVersion) -> None:
        self._store, self._live = store, live
        self._turn = anyio.Lock()

    async def done(self, request: Request, make: Callable[[], Version]) -> Version:
        """The version that a request makes, or made when it came before.

        Args:
            request: What is asked for, under a key.
            make: Makes the version.
        """
        return await self.in_turn(lambda: self._done(request, make))

    async def in_turn(self, work: Callable[[], Value]) -> Value:
        """Do some work when all that came before is done.

        Args:
            work: What to do.
        """
        async with self._my_turn():
            return await run_sync(work)

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

    def _done(
        self, request: Request, make: Callable[[], Version], attempts: int = ATTEMPTS
    ) -> Version:
        try:
            version = self._store.made_for(request) or make()
        except StoreChangedError:
            if attempts == 1:
                raise
            return self._done(request, make, attempts - 1)
        # Whoever taught it and asks next is answered by it.
        self._live.follow()
        return version
