"""Routes that list, add and remove classes, and add labels."""

from functools import partial
from typing import Annotated

from fastapi import Path
from pydantic import Field

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.results.comparisons import Comparison
from nodegraft.analysis.results.versions import Changed, KnownClasses
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import Changes, Note, Override, ReadVersion, Served, router
from nodegraft.service.routes.changes import make_change, preview_change
from nodegraft.service.schemas import LabelChange, Labels, ParentName

READ = router("classes", Scope.READ)
TEACH = router("classes", Scope.TEACH)

Name = Annotated[str, Path(description="Class name.", min_length=1, max_length=1_000)]


class NewClasses(LabelChange):
    """New classes with examples."""

    classes: Labels = Field(examples=[{"e-bikes": ["p91007", "p91008", "p91020"]}])
    """New class -> keys of its nodes."""

    parent: ParentName = Field(default=None, examples=[None])
    """Parent of the new classes in the class tree: a class, a group or the name of a new group."""

    force_name: bool = False
    """Accept names that differ from another class name only by case or spaces."""

    def change(self) -> Change:
        """Return the change to apply to the store."""
        below = {} if self.parent is None else {"parent": self.parent}
        change = Change("add", {"classes": self.classes} | below)
        return change.with_forced_name(self.force_name)


class MoreLabels(LabelChange):
    """Labels of known classes."""

    labels: Labels = Field(examples=[{"hats": ["p7"]}])
    """Known class -> keys of nodes without a label."""


@READ.get("/classes")
def classes(live: ReadVersion) -> KnownClasses:
    """List all classes of a version."""
    return KnownClasses.of(live.row, live.state.labels)


@TEACH.post("/classes", status_code=201)
async def add(new: NewClasses, changes: Changes) -> Changed:
    """Add new classes. This makes a new version, unless held-out accuracy drops."""
    work = partial(make_change, new.change())
    return await changes.response(work, new.note, new.override)


@TEACH.post("/classes:preview")
async def preview(new: NewClasses, service: Served) -> Comparison:
    """Preview the effect of new classes on predictions of the newest version.

    Nothing is changed.
    """
    return await service.writer.run(partial(preview_change, new.change()))


@TEACH.delete("/classes/{name:path}")
async def remove(name: Name, changes: Changes, note: Note = "", override: Override = "") -> Changed:
    """Remove a class. This makes a new version without the class."""
    work = partial(make_change, Change("remove", {"names": [name]}))
    return await changes.response(work, note, override)


@TEACH.post("/labels", status_code=201)
async def label(more: MoreLabels, changes: Changes) -> Changed:
    """Add labels of known classes. This makes a new version, unless held-out accuracy drops."""
    work = partial(make_change, Change("label", {"more": more.labels}))
    return await changes.response(work, more.note, more.override)
