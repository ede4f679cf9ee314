"""Routes about classes: which there are, new ones, and those that go."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.preview import Preview as Seen
from nodegraft.analysis.version import Version
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.http_error import HttpError
from nodegraft.service.inputs import Note, Override, Served, needs
from nodegraft.service.live.writing import Writes
from nodegraft.service.previews import Preview
from nodegraft.service.routes.found import ReadVersion
from nodegraft.service.schemas import Answer, Changed, Form, Labels, Text
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store

READING = APIRouter(prefix="/v1", tags=["classes"], dependencies=[needs(Scope.READ)])
TEACHING = APIRouter(prefix="/v1", tags=["classes"], dependencies=[needs(Scope.TEACH)])

Name = Annotated[str, Path(description="The name of a class.", min_length=1, max_length=1_000)]


class KnownClass(Form):
    """A class that a version knows."""

    name: str = Field(examples=["hats"])
    """Its name."""

    taught: int = Field(examples=[16])
    """How many nodes teach it."""

    held_out: int = Field(examples=[4])
    """How many check it."""

    session: int = Field(examples=[0])
    """The session that brought it; 0 for the first ones."""


class KnownClasses(Answer):
    """All classes of a version."""

    classes: list[KnownClass]
    """In the order in which they came."""


class Lesson(Form):
    """New classes and nodes of them."""

    classes: Labels = Field(examples=[{"e-bikes": ["p91007", "p91008", "p91020"]}])
    """New class -> keys of its nodes."""

    note: Text = Field(default="", max_length=2_000, examples=["asked for by sales"])
    """Why: it is written down."""

    override: Text = Field(default="", max_length=2_000)
    """A reason for doing it although held-out nodes speak against it; it is written down."""

    force_name: bool = False
    """Accept names that differ only by case or blanks from that of another class."""

    @property
    def change(self) -> Change:
        """As a store knows it."""
        return Change("add", {"classes": self.classes}).with_forced_name(self.force_name)


@READING.get("/classes")
def classes(live: ReadVersion) -> KnownClasses:
    """All classes of a version."""
    return KnownClasses(
        model_version=live.version,
        graph_version=live.graph_version,
        classes=[
            KnownClass(
                name=name,
                taught=len(one.taught),
                held_out=len(one.held_out),
                session=one.session,
            )
            for name, one in live.state.labels.items()
        ],
    )


@TEACHING.post("/classes", status_code=201)
async def add(lesson: Lesson, writing: Writes) -> Changed:
    """Teach new classes: this makes a version, unless held-out nodes speak against it."""
    return await writing.changed(lesson.change, lesson.note, lesson.override)


@TEACHING.post("/classes:preview")
async def preview(lesson: Lesson, service: Served) -> Preview:
    """What a lesson would change in the newest version; nothing is changed."""
    version, seen = await service.teaching.apart(partial(_previewed, lesson.change))
    return Preview.of(version, seen)


@TEACHING.delete("/classes/{name:path}")
async def remove(name: Name, writing: Writes, note: Note = "", override: Override = "") -> Changed:
    """Forget a class: this makes a version without it."""
    return await writing.made(partial(_removed, name), note, override)


def _previewed(change: Change, store: Store) -> tuple[Version, Seen]:
    version = store.version()
    return version, store.preview(change)


def _removed(name: str, store: Store, intent: Intent) -> Version:
    if name not in store.state(store.candidate).labels:
        message = f"The newest version has no class {name!r}."
        raise HttpError(404, "unknown_class", message, "Look at GET /v1/sessions.")
    return store.change(Change("remove", {"names": [name]}), intent=intent)
