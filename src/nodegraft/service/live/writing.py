"""The one way in which a route makes a version."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import Depends

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.version import Version
from nodegraft.service.auth.tokens import Token
from nodegraft.service.inputs import Caller, Served, Wanted
from nodegraft.service.schemas import Changed
from nodegraft.service.service import Service
from nodegraft.store.store import Store
from nodegraft.store.versions.request import Request


@dataclass(frozen=True)
class Writing:
    """A request that makes a version."""

    service: Service
    """What is changed."""

    caller: Token
    """Who asks."""

    wanted: Request
    """What for, under a key."""

    async def done(self, make: Callable[..., Version], **told: Any) -> Version:
        """The version that it makes, or made when it came before.

        Args:
            make: Makes it, given the store and, by name, all that is written down with it; it can
                be sent to another process.
            told: What is written down beside who and under which key, such as a note.
        """
        told |= {"by": self.caller.name, "promote": self.wanted.promote, "request": self.wanted}
        return await self.service.teaching.done(self.wanted, partial(make, **told))

    async def made(self, make: Callable[..., Version], **told: Any) -> Changed:
        """The same, as callers are told of it.

        Args:
            make: As :meth:`done` takes it.
            told: The same.
        """
        return Changed.of(await self.done(make, **told))

    async def changed(self, change: Change, **told: Any) -> Changed:
        """What a change of labels did.

        Args:
            change: The change.
            told: As :meth:`done` takes it.
        """
        return await self.made(partial(_change, change), **told)


def _change(change: Change, store: Store, **told: Any) -> Version:
    return store.change(change, **told)


async def _writing(service: Served, caller: Caller, wanted: Wanted) -> Writing:
    return Writing(service, caller, wanted)


Writes = Annotated[Writing, Depends(_writing)]
"""For routes that make a version."""
