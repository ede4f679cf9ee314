"""Routes that list, add and remove classes, and add labels."""

from functools import partial
from typing import Annotated

from fastapi import Path
from pydantic import Field

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.preview import Preview, comparison_fields
from nodegraft.analysis.version import Version, version_fields
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import Changes, Note, Override, ReadVersion, Served, router
from nodegraft.service.errors import HttpError
from nodegraft.service.schemas import (
    Changed,
    Comparison,
    Labels,
    Model,
    RequestModel,
    Text,
    VersionResponse,
)
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store

READ = router("classes", Scope.READ)
TEACH = router("classes", Scope.TEACH)

Name = Annotated[str, Path(description="Class name.", min_length=1, max_length=1_000)]


class KnownClass(Model):
    """A class of a version."""

    name: str = Field(examples=["hats"])
    """Class name."""

    labels: int = Field(examples=[16])
    """Number of labels that the model learns from."""

    held_out: int = Field(examples=[4])
    """Number of held-out labels, which measure accuracy."""

    session: int = Field(examples=[0])
    """Session that added the class; 0 for the first classes."""


class KnownClasses(VersionResponse):
    """All classes of a version."""

    classes: list[KnownClass]
    """Classes in the order in which they were added."""


class LabelChange(RequestModel):
    """Fields of every request that adds labels."""

    note: Text = Field(default="", max_length=2_000, examples=["asked for by sales"])
    """Reason for the change, stored in the history."""

    override: Text = Field(default="", max_length=2_000)
    """Reason to apply the change although held-out accuracy drops, stored in the history."""


class NewClasses(LabelChange):
    """New classes with examples."""

    classes: Labels = Field(examples=[{"e-bikes": ["p91007", "p91008", "p91020"]}])
    """New class -> keys of its nodes."""

    force_name: bool = False
    """Accept names that differ from another class name only by case or spaces."""

    def change(self) -> Change:
        """Return the change of the store."""
        return Change("add", {"classes": self.classes}).with_forced_name(self.force_name)


class MoreLabels(LabelChange):
    """Labels of known classes."""

    labels: Labels = Field(examples=[{"hats": ["p7"]}])
    """Known class -> keys of nodes without a label."""


@READ.get("/classes")
def classes(live: ReadVersion) -> KnownClasses:
    """List all classes of a version."""
    known = [
        KnownClass(
            name=name,
            labels=len(labels.taught),
            held_out=len(labels.held_out),
            session=labels.session,
        )
        for name, labels in live.state.labels.items()
    ]
    return KnownClasses(**live.fields, classes=known)


@TEACH.post("/classes", status_code=201)
async def add(new: NewClasses, changes: Changes) -> Changed:
    """Add new classes: this makes a version, unless held-out accuracy drops."""
    work = partial(_change, new.change())
    return await changes.response(work, new.note, new.override)


@TEACH.post("/classes:preview")
async def preview(new: NewClasses, service: Served) -> Comparison:
    """Compare the newest version with one that has new classes; nothing is changed."""
    version, found = await service.writer.run(partial(_preview, new.change()))
    return Comparison(
        **version_fields(version),
        **comparison_fields(found),
    )


@TEACH.delete("/classes/{name:path}")
async def remove(name: Name, changes: Changes, note: Note = "", override: Override = "") -> Changed:
    """Remove a class: this makes a version without it."""
    return await changes.response(partial(_remove, name), note, override)


@TEACH.post("/labels", status_code=201)
async def label(more: MoreLabels, changes: Changes) -> Changed:
    """Add labels of known classes: this makes a version, unless held-out accuracy drops."""
    work = partial(_change, Change("label", {"more": more.labels}))
    return await changes.response(work, more.note, more.override)


def _change(change: Change, store: Store, intent: Intent) -> Version:
    return store.change(change, intent=intent)


def _preview(change: Change, store: Store) -> tuple[Version, Preview]:
    return store.version(), store.preview(change)


def _remove(name: str, store: Store, intent: Intent) -> Version:
    if name not in store.state(store.newest).labels:
        message = f"The newest version has no class {name!r}."
        raise HttpError(404, "unknown_class", message, "See GET /v1/classes?version=newest.")
    return store.change(Change("remove", {"names": [name]}), intent=intent)
