"""Results about single versions: changes, promotions and classes."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self

from nodegraft.analysis.results.result import Result, VersionResult, example
from nodegraft.analysis.version import Version, describe_version

if TYPE_CHECKING:
    from nodegraft.analysis.labels.labels import StoreLabels
    from nodegraft.model.class_tree import ClassTree


@dataclass(frozen=True, kw_only=True)
class HistoryEntry(Result):
    """Change that made a version.

    Args:
        version: Number of the version.
        action: Name of the command.
        description: Short description of the change.
        detail: Arguments of the change.
        by: Author of the change: name of a token or of a user.
        note: Reason for the change, as given by the author.
        at: Time of the change in UTC.
        accuracy_before: Held-out accuracy before the change; null without held-out nodes.
        accuracy_after: Held-out accuracy after the change; null without held-out nodes.
        predictions_compared: Number of nodes that were predicted before and after the change: all
            nodes, or a random sample.
        predictions_changed: Number of compared nodes whose prediction changed.
    """

    version: int = field(metadata=example(3))
    action: str = field(metadata=example("add"))
    description: str = field(metadata=example("add e-bikes (2)"))
    detail: dict[str, Any] = field(metadata=example({"classes": {"e-bikes": ["p17", "p20"]}}))
    by: str = field(metadata=example("ci"))
    note: str = field(metadata=example("asked for by sales"))
    at: datetime
    accuracy_before: float | None = field(metadata=example(0.912))
    accuracy_after: float | None = field(metadata=example(0.911))
    predictions_compared: int | None = field(metadata=example(20000))
    predictions_changed: int | None = field(metadata=example(112))

    @classmethod
    def of(cls, version: Version) -> Self:
        """Return the change that made a version."""
        measures = version.measures
        return cls(
            version=version.number,
            action=version.action,
            description=describe_version(version),
            detail=version.detail,
            by=version.by,
            note=version.note,
            at=version.at,
            accuracy_before=measures.get("before", {}).get("accuracy"),
            accuracy_after=measures.get("after", {}).get("accuracy"),
            predictions_compared=measures.get("asked"),
            predictions_changed=measures.get("flipped"),
        )


@dataclass(frozen=True, kw_only=True)
class Changed(VersionResult):
    """New version. Another request with the same idempotency key gets the same response.

    Args:
        change: Change that made the version.
        promoted: Whether the version was promoted immediately.
        warnings: Warnings to check before the version is promoted.
    """

    change: HistoryEntry
    promoted: bool = field(metadata=example(False))
    warnings: list[str] = field(metadata=example(["Class 'e-bikes' has only 1 example: …"]))

    @classmethod
    def of(cls, version: Version, promoted: bool, **more: Any) -> Self:
        """Return the result about a new version.

        Args:
            more: Further fields of a subclass.
        """
        return cls(
            **version.fields,
            change=HistoryEntry.of(version),
            promoted=promoted,
            warnings=version.measures.get("warnings", []),
            **more,
        )


@dataclass(frozen=True, kw_only=True)
class Promoted(VersionResult):
    """Version that was made live.

    Args:
        by: Author of the promotion: name of a token or of a user.
        at: Time of the promotion in UTC.
    """

    by: str = field(metadata=example("anna"))
    at: datetime


@dataclass(frozen=True)
class KnownClass(Result):
    """A class of a version.

    Args:
        name: Class name.
        parent: Parent in the class tree: a class or a group; null if it has none.
        labels: Number of training labels.
        held_out: Number of held-out labels, which are used to measure accuracy.
        session: Number of the session that added the class; 0 for the first classes.
    """

    name: str = field(metadata=example("hats"))
    parent: str | None = field(metadata=example(None))
    labels: int = field(metadata=example(16))
    held_out: int = field(metadata=example(4))
    session: int = field(metadata=example(0))


@dataclass(frozen=True)
class ClassGroup(Result):
    """A group of the class tree: the parent of other classes, without labels of its own.

    Args:
        name: Name of the group.
        parent: Parent in the class tree: a class or a group; null if it has none.
    """

    name: str = field(metadata=example("headwear"))
    parent: str | None = field(metadata=example(None))


@dataclass(frozen=True, kw_only=True)
class KnownClasses(VersionResult):
    """All classes of a version.

    Args:
        classes: Classes in the order in which they were added.
        groups: Groups of the class tree, sorted by name.
    """

    TABLE: ClassVar[str] = "classes"

    classes: list[KnownClass]
    groups: list[ClassGroup]

    @property
    def tree(self) -> "ClassTree":
        """Parents of the classes and groups."""
        from nodegraft.model.class_tree import ClassTree  # This import is slow.

        every: list[KnownClass | ClassGroup] = [*self.classes, *self.groups]
        return ClassTree({known.name: known.parent for known in every if known.parent is not None})

    @classmethod
    def of(cls, version: Version, labels: "StoreLabels") -> Self:
        """Return the classes of a version.

        Args:
            labels: Labels of the version.
        """
        return cls(
            **version.fields,
            classes=[
                KnownClass(
                    name, labels.tree.get(name), len(own.training), len(own.held_out), own.session
                )
                for name, own in labels.items()
            ],
            groups=[ClassGroup(name, labels.tree.get(name)) for name in labels.groups],
        )
