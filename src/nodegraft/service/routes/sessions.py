"""Routes about what was done: the list of it, and taking something back."""

from functools import partial

from fastapi import APIRouter

from nodegraft.analysis.version import Version
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.inputs import Limit, Note, Number, Served, needs
from nodegraft.service.live.writing import Writes
from nodegraft.service.routes.found import existing
from nodegraft.service.schemas import Answer, Changed, Session
from nodegraft.store.intent import Intent
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
async def undo(number: Number, writing: Writes, note: Note = "") -> Changed:
    """Take back what one session did: this makes a version without it."""
    return await writing.made(partial(_undone, number), note=note)


def _undone(number: int, store: Store, intent: Intent) -> Version:
    existing(store, number)
    return store.undo(number, intent=intent)
