"""Routes about what was done: the list of it, and taking something back."""

from functools import partial
from typing import Any

from fastapi import APIRouter

from nodegraft.service.inputs import Caller, Limit, Note, Number, Served, Wanted, needs
from nodegraft.service.routes.found import existing
from nodegraft.service.schemas import Answer, Changed, Session
from nodegraft.service.tokens import Scope
from nodegraft.store.rows import Version
from nodegraft.store.store import Store

READING = APIRouter(prefix="/v1", tags=["sessions"], dependencies=[needs(Scope.READ)])
TEACHING = APIRouter(prefix="/v1", tags=["sessions"], dependencies=[needs(Scope.TEACH)])


class Sessions(Answer):
    """What was done to a store."""

    sessions: list[Session]
    """Newest first."""


@READING.get("/sessions")
def sessions(service: Served, limit: Limit = 100) -> Sessions:
    """What was done, by whom and why, and what it changed."""
    live = service.now
    return Sessions(
        model_version=live.version,
        graph_version=live.graph_version,
        sessions=[Session.of(one) for one in service.store.history()[::-1][:limit]],
    )


@TEACHING.post("/sessions/{number}:undo")
async def undo(
    number: Number, service: Served, caller: Caller, wanted: Wanted, note: Note = ""
) -> Changed:
    """Take back what one session did: this makes a version without it."""
    make = partial(
        _undone, number, by=caller.name, note=note, promote=wanted.promote, request=wanted
    )
    return Changed.of(await service.teaching.done(wanted, make))


def _undone(number: int, store: Store, **told: Any) -> Version:
    existing(store, number)
    return store.undo(number, **told)
