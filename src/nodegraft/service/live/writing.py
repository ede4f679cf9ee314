"""The one way in which a route makes a version."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import Depends

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.version import Version
from nodegraft.service.auth.tokens import Token
from nodegraft.service.inputs import Caller, Served, Wanted
from nodegraft.service.schemas import Changed
from nodegraft.service.service import Service
from nodegraft.store.intent import IdempotencyKey, Intent
from nodegraft.store.store import Store

Make = Callable[..., Version]
"""Makes a version, given a store and ``intent``."""


@dataclass(frozen=True)
class Writing:
    """A request that makes a version."""

    service: Service
    """What is changed."""

    caller: Token
    """Who asks."""

    wanted: IdempotencyKey
    """What for, under a key."""

    async def done(self, make: Make, note: str, override: str = "") -> Version:
        """Return the version that the request makes, or made when it was sent before.

        Args:
            make: Makes the version; it can be sent to another process.
            note: Reason for the change.
            override: Reason to apply a change that the quality gate refuses.
        """
        intent = Intent(
            author=self.caller.name,
            note=note,
            override=override,
            promote=self.wanted.promote,
            idempotency_key=self.wanted,
        )
        return await self.service.teaching.done(self.wanted, partial(make, intent=intent))

    async def made(self, make: Make, note: str, override: str = "") -> Changed:
        """Return the response about the version that the request makes.

        Args:
            make: As in :meth:`done`.
            note: As in :meth:`done`.
            override: As in :meth:`done`.
        """
        return Changed.of(await self.done(make, note, override))

    async def changed(self, change: Change, note: str, override: str) -> Changed:
        """Return the response about a change of labels.

        Args:
            change: The change.
            note: As in :meth:`done`.
            override: As in :meth:`done`.
        """
        return await self.made(partial(_change, change), note, override)


def _change(change: Change, store: Store, intent: Intent) -> Version:
    return store.change(change, intent=intent)


async def _writing(service: Served, caller: Caller, wanted: Wanted) -> Writing:
    return Writing(service, caller, wanted)


Writes = Annotated[Writing, Depends(_writing)]
"""For routes that make a version."""
