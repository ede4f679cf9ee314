"""Results about versions: what made them, and how they differ."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self

from nodegraft.analysis.results.result import NodeKey, Result, VersionResult, example
from nodegraft.analysis.version import Version, describe_version

if TYPE_CHECKING:
    from nodegraft.analysis.preview import Preview


@dataclass(frozen=True, kw_only=True)
class HistoryEntry(Result):
    """Change that made a version.

    Args:
        version: Number of the version.
        action: Name of the command.
        description: The change in a few words.
        detail: Arguments of the change.
        by: Author: name of a token or of a user.
        note: Reason for the change.
        at: Time in UTC.
        accuracy_before: Held-out accuracy before the change; null without held-out nodes.
        accuracy_after: Held-out accuracy after it.
        predictions_compared: Number of nodes that were predicted before and after: all, or a random
            sample.
        predictions_changed: Number of those predictions that changed.
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
    """New version; a request with the same idempotency key gets the same response.

    Args:
        change: The change that made it.
        promoted: Whether the new version was promoted at once.
        warnings: What to check before the version is promoted.
    """

    change: HistoryEntry
    promoted: bool = field(metadata=example(False))
    warnings: list[str] = field(metadata=example(["Class 'e-bikes' has only 1 example: …"]))

    @classmethod
    def of(cls, version: Version, promoted: bool, **more: Any) -> Self:
        """Return the result about a new version.

        Args:
            more: Fields of a subclass.
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
    """The new live version.

    Args:
        by: Who promoted it.
        at: Time in UTC.
    """

    by: str = field(metadata=example("anna"))
    at: datetime


@dataclass(frozen=True)
class ChangedClass(Result):
    """Number of predictions that change from one class to another.

    Args:
        before: Predicted class before.
        after: Predicted class after.
        nodes: Number of nodes.
    """

    before: str = field(metadata=example("bikes"))
    after: str = field(metadata=example("e-bikes"))
    nodes: int = field(metadata=example(31))


@dataclass(frozen=True)
class ChangedNode(Result):
    """Node whose prediction changes.

    Args:
        node: Its key.
        before: Predicted class before.
        after: Predicted class after.
        confidence: Confidence of the prediction after.
    """

    node: NodeKey = field(metadata=example("p91500"))
    before: str = field(metadata=example("bikes"))
    after: str = field(metadata=example("e-bikes"))
    confidence: float = field(metadata=example(0.93))


@dataclass(frozen=True, kw_only=True)
class Comparison(VersionResult):
    """Predictions that differ between two versions, or that a change would change.

    Args:
        predictions_compared: Number of nodes that were predicted before and after: all, or a random
            sample. It is null if no version can be made of new tables, as are the other fields
            about predictions.
        predictions_changed: Number of those predictions that change.
        changes: Changes from class to class, the most frequent first.
        examples: Some nodes whose prediction changes.
        accuracy_before: Held-out accuracy before; null without held-out nodes.
        accuracy_after: Held-out accuracy after.
        objections: Reasons of the quality gate to refuse the change. With any, a change of labels
            is refused unless `override` gives a reason, and new nodes are not promoted at once.
        warnings: What to check first; warnings do not block the change.
    """

    predictions_compared: int | None = field(metadata=example(20000))
    predictions_changed: int | None = field(metadata=example(112))
    changes: list[ChangedClass]
    examples: list[ChangedNode]
    accuracy_before: float | None = field(metadata=example(0.912))
    accuracy_after: float | None = field(metadata=example(0.911))
    objections: list[str]
    warnings: list[str]

    @classmethod
    def of(cls, version: Version, preview: "Preview | None", **more: Any) -> Self:
        """Return a comparison of two versions.

        Args:
            preview: The comparison; None if no version can be made.
            more: Fields of a subclass, or other values.
        """
        if preview is None:
            names = "predictions_compared", "predictions_changed", "accuracy_before"
            compared: dict[str, Any] = {
                **dict.fromkeys((*names, "accuracy_after")),
                "changes": [],
                "examples": [],
            }
        else:
            compared = {
                "predictions_compared": preview.asked,
                "predictions_changed": preview.flipped,
                "changes": [ChangedClass(*pair, nodes) for pair, nodes in preview.flips.items()],
                "examples": list(preview.examples),
                "accuracy_before": preview.before.accuracy,
                "accuracy_after": preview.after.accuracy,
                "objections": preview.objections(),
                "warnings": preview.warnings(),
            }
        return cls(**version.fields, **(compared | more))


@dataclass(frozen=True, kw_only=True)
class RowsComparison(Comparison):
    """Effect of new tables; nothing was changed.

    Args:
        nodes_added: Nodes that would be added.
        nodes_removed: Nodes that would be removed.
        edges_added: Edges that would be added.
        edges_removed: Edges that would be removed.
        labels_removed: Labels that would be removed with their nodes.
        labels_lost: Class -> number of its labels that would be removed.
    """

    nodes_added: int = field(metadata=example(12))
    nodes_removed: int = field(metadata=example(0))
    edges_added: int = field(metadata=example(30))
    edges_removed: int = field(metadata=example(0))
    labels_removed: int = field(metadata=example(0))
    labels_lost: dict[str, int] = field(metadata=example({}))


@dataclass(frozen=True, kw_only=True)
class Diff(Comparison):
    """Difference of the version `compared_with` and a later one, `model_version`.

    Args:
        compared_with: Number of the version before.
        history: Changes between the two versions, newest first.
        held_out: Number of held-out nodes of classes that both versions know.
        classes_added: Classes that only the version after knows.
        classes_removed: Classes that only the version before knows.
    """

    TABLE: ClassVar[str] = "changes"

    compared_with: int = field(metadata=example(1))
    history: list[HistoryEntry]
    held_out: int = field(metadata=example(587))
    classes_added: list[str] = field(metadata=example(["e-bikes"]))
    classes_removed: list[str] = field(metadata=example([]))


@dataclass(frozen=True)
class Shift(Result):
    """Drift of one measure between two versions.

    Args:
        measure: Name of the measure.
        before: Value before, in words.
        after: Value after.
        distance: Distance of the two distributions, from 0 to 1: half the sum of the differences of
            all shares, or the largest difference of the cumulative distributions.
        noise: Distance that chance alone exceeds about once in twenty times.
        alarm: Whether the distance is above the alarm threshold and above noise.
    """

    measure: str = field(metadata=example("predictions"))
    before: str = field(metadata=example("31.2 % hats"))
    after: str = field(metadata=example("28.9 % hats"))
    distance: float = field(metadata=example(0.04))
    noise: float = field(metadata=example(0.02))
    alarm: bool = field(metadata=example(False))


@dataclass(frozen=True, kw_only=True)
class Drift(VersionResult):
    """Drift between the version `compared_with` and a later one, `model_version`.

    Args:
        compared_with: Number of the version before.
        threshold: Alarm threshold of the distance.
        shifts: One for each measure.
    """

    TABLE: ClassVar[str] = "shifts"

    compared_with: int = field(metadata=example(1))
    threshold: float = field(metadata=example(0.1))
    shifts: list[Shift]
