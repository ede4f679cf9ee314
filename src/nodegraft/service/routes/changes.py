"""Route for every change of labels, with a preview of its effect."""

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Body, Response
from pydantic import Field

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.results.comparisons import Comparison
from nodegraft.analysis.results.versions import Changed
from nodegraft.analysis.version import Version
from nodegraft.service.auth.limits import MAX_KEYS
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import Changes, router
from nodegraft.service.errors import HttpError
from nodegraft.service.schemas import Keys, LabelChange, Labels, ParentName, Text
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store

TEACH = router("classes", Scope.TEACH)

Names = Annotated[list[Text], Field(min_length=1, max_length=1_000)]


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


class AddClasses(AnyChange):
    """New classes with examples."""

    action: Literal["add"]
    """Name of the change."""

    classes: Labels = Field(examples=[{"e-bikes": ["p91007", "p91008", "p91020"]}])
    """New class -> keys of its nodes."""

    parent: ParentName = Field(default=None, examples=[None])
    """Parent of the new classes in the class tree: a class, a group or the name of a new group."""


class AddLabels(AnyChange):
    """More labels of known classes."""

    action: Literal["label"]
    """Name of the change."""

    more: Labels = Field(examples=[{"hats": ["p7"]}])
    """Known class -> keys of nodes without a label."""


class RemoveLabels(AnyChange):
    """Labels to remove."""

    action: Literal["unlabel"]
    """Name of the change."""

    keys: Keys = Field(examples=[["p7"]])
    """Keys of labelled nodes."""


class MoveLabels(AnyChange):
    """Labels to move to another class."""

    action: Literal["relabel"]
    """Name of the change."""

    classes: Labels = Field(examples=[{"caps": ["p7"]}])
    """Known class -> keys of nodes that have another label."""


class RemoveClasses(AnyChange):
    """Classes to remove."""

    action: Literal["remove"]
    """Name of the change."""

    names: Names = Field(examples=[["hats"]])
    """Names of the classes."""


class RenameClass(AnyChange):
    """Class to rename."""

    action: Literal["rename"]
    """Name of the change."""

    old: Text = Field(examples=["hats"])
    """Current name."""

    new: Text = Field(examples=["headwear"])
    """New name."""


class MergeClasses(AnyChange):
    """Classes to merge into one class."""

    action: Literal["merge"]
    """Name of the change."""

    names: Names = Field(examples=[["hats", "caps"]])
    """Names of the classes."""

    into: Text = Field(examples=["hats"])
    """Name of the merged class: one of `names`, or a new name."""


class MoveClasses(AnyChange):
    """Classes to move in the class tree."""

    action: Literal["move"]
    """Name of the change."""

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
        work = partial(make_change, request.change())
        return await changes.response(work, request.note, request.override)
    response.status_code = 200
    return await changes.service.writer.run(partial(preview_change, request.change()))


def make_change(change: Change, store: Store, intent: Intent) -> Version:
    """Make a version with changed labels or classes."""
    _require_classes(change.detail, store)
    return store.change(change, intent=intent)


def preview_change(change: Change, store: Store) -> Comparison:
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
