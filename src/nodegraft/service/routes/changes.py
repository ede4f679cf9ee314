"""Routes that list classes, and that change classes and labels, with a preview."""

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Body, Path, Response
from pydantic import Field

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.results.comparisons import Comparison
from nodegraft.analysis.results.versions import Changed, KnownClasses
from nodegraft.analysis.version import Version
from nodegraft.service.auth.limits import MAX_KEYS
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import Changes, Note, Override, ReadVersion, Served, router
from nodegraft.service.errors import HttpError
from nodegraft.service.schemas import Keys, LabelChange, Labels, ParentName, Text
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store

READ = router("classes", Scope.READ)
TEACH = router("classes", Scope.TEACH)

Names = Annotated[list[Text], Field(min_length=1, max_length=1_000)]


Name = Annotated[str, Path(description="Class name.", min_length=1, max_length=1_000)]

ACTION: Any = Field(description="Name of the change.")


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


class AnyChange(LabelChange):
    """Fields that all requests of this route have."""

    action: str
    """Name of the change."""

    dry_run: bool = False
    """Only report the effect of the change, without making a version (status 200)."""

    force_name: bool = False
    """Accept names that differ from another class name only by case or spaces."""

    def change(self) -> Change:
        """Return the change to apply to the store."""
        detail = self.model_dump(exclude=set(AnyChange.model_fields), exclude_unset=True)
        return Change(self.action, detail).with_forced_name(self.force_name)


class AddClasses(NewClasses, AnyChange):
    """New classes with examples."""

    action: Literal["add"] = ACTION


class AddLabels(AnyChange):
    """More labels of known classes."""

    action: Literal["label"] = ACTION

    more: Labels = Field(examples=[{"hats": ["p7"]}])
    """Known class -> keys of nodes without a label."""


class RemoveLabels(AnyChange):
    """Labels to remove."""

    action: Literal["unlabel"] = ACTION

    keys: Keys = Field(examples=[["p7"]])
    """Keys of labelled nodes."""


class MoveLabels(AnyChange):
    """Labels to move to another class."""

    action: Literal["relabel"] = ACTION

    classes: Labels = Field(examples=[{"caps": ["p7"]}])
    """Known class -> keys of nodes that have another label."""


class RemoveClasses(AnyChange):
    """Classes to remove."""

    action: Literal["remove"] = ACTION

    names: Names = Field(examples=[["hats"]])
    """Names of the classes."""


class RenameClass(AnyChange):
    """Class to rename."""

    action: Literal["rename"] = ACTION

    old: Text = Field(examples=["hats"])
    """Current name."""

    new: Text = Field(examples=["headwear"])
    """New name."""


class MergeClasses(AnyChange):
    """Classes to merge into one class."""

    action: Literal["merge"] = ACTION

    names: Names = Field(examples=[["hats", "caps"]])
    """Names of the classes."""

    into: Text = Field(examples=["hats"])
    """Name of the merged class: one of `names`, or a new name."""


class MoveClasses(AnyChange):
    """Classes to move in the class tree."""

    action: Literal["move"] = ACTION

    parents: Annotated[dict[Text, ParentName], Field(min_length=1, max_length=MAX_KEYS)] = Field(
        examples=[{"hats": "headwear", "rugs": None}]
    )
    """Class or group -> its new parent, which may be the name of a new group; null for no
    parent."""


LabelsOrClasses = Annotated[
    AddClasses
    | AddLabels
    | RemoveLabels
    | MoveLabels
    | RemoveClasses
    | RenameClass
    | MergeClasses
    | MoveClasses,
    Body(discriminator="action"),
]


@TEACH.post(
    "/changes",
    status_code=201,
    responses={200: {"model": Comparison, "description": "Dry run: nothing was changed"}},
)
async def change(
    request: LabelsOrClasses, changes: Changes, response: Response
) -> Changed | Comparison:
    """Change labels or classes. This makes a new version, unless it is a dry run."""
    if not request.dry_run:
        work = partial(_make, request.change())
        return await changes.response(work, request.note, request.override)
    response.status_code = 200
    return await changes.service.writer.run(partial(_preview, request.change()))


@READ.get("/classes")
def classes(live: ReadVersion) -> KnownClasses:
    """List all classes of a version."""
    return KnownClasses.of(live.row, live.state.labels)


@TEACH.post("/classes", status_code=201)
async def add(new: NewClasses, changes: Changes) -> Changed:
    """Add new classes. This makes a new version, unless held-out accuracy drops."""
    work = partial(_make, new.change())
    return await changes.response(work, new.note, new.override)


@TEACH.post("/classes:preview")
async def preview(new: NewClasses, service: Served) -> Comparison:
    """Preview the effect of new classes on predictions of the newest version.

    Nothing is changed.
    """
    return await service.writer.run(partial(_preview, new.change()))


@TEACH.delete("/classes/{name:path}")
async def remove(name: Name, changes: Changes, note: Note = "", override: Override = "") -> Changed:
    """Remove a class. This makes a new version without the class."""
    work = partial(_make, Change("remove", {"names": [name]}))
    return await changes.response(work, note, override)


@TEACH.post("/labels", status_code=201)
async def label(more: MoreLabels, changes: Changes) -> Changed:
    """Add labels of known classes. This makes a new version, unless held-out accuracy drops."""
    work = partial(_make, Change("label", {"more": more.labels}))
    return await changes.response(work, more.note, more.override)


def _make(change: Change, store: Store, intent: Intent) -> Version:
    """Make a version with changed labels or classes."""
    _require_classes(change.detail, store)
    return store.change(change, intent=intent)


def _preview(change: Change, store: Store) -> Comparison:
    """Return the effect that a change of the newest version would have."""
    _require_classes(change.detail, store)
    return Comparison.of(store.version(), store.preview(change))


def _require_classes(detail: dict[str, Any], store: Store) -> None:
    labels = store.state(store.newest).labels
    known = {*labels, *labels.tree.names, *filter(None, detail.get("parents", {}).values())}
    for name in (
        *detail.get("parents", ()),
        *detail.get("names", ()),
        *filter(None, [detail.get("old")]),
    ):
        if name not in known:
            message = f"The newest version has no class {name!r}."
            raise HttpError(404, "unknown_class", message, "See GET /v1/classes?version=newest.")
