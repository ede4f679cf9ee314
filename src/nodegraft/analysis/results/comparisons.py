"""Results about two versions: comparisons of predictions, and drift."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from nodegraft.analysis.results.result import NodeKey, Result, VersionResult, example
from nodegraft.analysis.results.versions import HistoryEntry
from nodegraft.analysis.version import Version

if TYPE_CHECKING:
    from nodegraft.analysis.preview import Preview


@dataclass(frozen=True)
class ChangedClass(Result):
    """Number of predictions that change from one class to another.

    Args:
        before: Predicted class before the change.
        after: Predicted class after the change.
        nodes: Number of nodes with this change.
    """

    before: str = field(metadata=example("bikes"))
    after: str = field(metadata=example("e-bikes"))
    nodes: int = field(metadata=example(31))


@dataclass(frozen=True)
class ChangedNode(Result):
    """Node whose prediction changes.

    Args:
        node: Node key.
        before: Predicted class before the change.
        after: Predicted class after the change.
        confidence: Confidence of the prediction after the change.
    """

    node: NodeKey = field(metadata=example("p91500"))
    before: str = field(metadata=example("bikes"))
    after: str = field(metadata=example("e-bikes"))
    confidence: float = field(metadata=example(0.93))


@dataclass(frozen=True, kw_only=True)
class Comparison(VersionResult):
    """Differences between the predictions of two versions, or before and after a change.

    Args:
        predictions_compared: Number of nodes that were predicted before and after: all nodes, or a
            random sample. This and the other fields about predictions are null if new tables cannot
            make a version.
        predictions_changed: Number of compared nodes whose prediction changes.
        changes: Numbers of changed predictions by class before and class after, the largest first.
        changes_inside: Ancestor in the class tree -> number of these changes between two classes of
            its branch. Each change counts once, at the lowest such ancestor; changes to another
            branch are left out.
        examples: Examples of nodes whose prediction changes.
        accuracy_before: Held-out accuracy before; null without held-out nodes.
        accuracy_after: Held-out accuracy after; null without held-out nodes.
        objections: Reasons of the quality gate to refuse the change. If there are any, a change of
            labels is refused unless `override` gives a reason, and new nodes are not promoted
            immediately.
        warnings: Warnings to check before the change; they do not block it.
    """

    predictions_compared: int | None = field(metadata=example(20000))
    predictions_changed: int | None = field(metadata=example(112))
    changes: list[ChangedClass]
    changes_inside: dict[str, int] = field(metadata=example({"vehicles": 31}))
    examples: list[ChangedNode]
    accuracy_before: float | None = field(metadata=example(0.912))
    accuracy_after: float | None = field(metadata=example(0.911))
    objections: list[str]
    warnings: list[str]

    @classmethod
    def of(cls, version: Version, preview: "Preview | None", **more: Any) -> Self:
        """Return a comparison of two versions.

        Args:
            preview: Comparison in the library's own form; None if no version can be made.
            more: Fields of a subclass, or values that replace those of the comparison.
        """
        if preview is None:
            names = "predictions_compared", "predictions_changed", "accuracy_before"
            compared: dict[str, Any] = {
                **dict.fromkeys((*names, "accuracy_after")),
                "changes": [],
                "changes_inside": {},
                "examples": [],
            }
        else:
            compared = {
                "predictions_compared": preview.num_compared,
                "predictions_changed": preview.flipped,
                "changes": [ChangedClass(*pair, nodes) for pair, nodes in preview.flips.items()],
                "changes_inside": preview.inside,
                "examples": list(preview.examples),
                "accuracy_before": preview.before.accuracy,
                "accuracy_after": preview.after.accuracy,
                "objections": preview.objections(),
                "warnings": preview.warnings(),
            }
        return cls(**version.fields, **(compared | more))


@dataclass(frozen=True, kw_only=True)
class RowsComparison(Comparison):
    """Preview of the changes that new tables would make; the store is not changed.

    Args:
        nodes_added: Number of nodes that would be added.
        nodes_removed: Number of nodes that would be removed.
        edges_added: Number of edges that would be added.
        edges_removed: Number of edges that would be removed.
        labels_removed: Number of labels that would be removed together with their nodes.
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
    """Difference between version `compared_with` and the later version `model_version`.

    Args:
        compared_with: Number of the earlier version.
        history: Changes between the two versions, newest first.
        held_out: Number of held-out nodes of the classes that both versions know.
        classes_added: Classes that only the later version knows.
        classes_removed: Classes that only the earlier version knows.
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
        before: Value in the earlier version, as text.
        after: Value in the later version, as text.
        distance: Distance between the distributions of the measure in the two versions, from 0 to
            1: half the sum of the differences of all shares, or the largest difference of the
            cumulative distributions.
        noise: Distance that is exceeded by chance about once in twenty comparisons.
        alarm: Whether the distance is above both the alarm threshold and `noise`.
    """

    measure: str = field(metadata=example("predictions"))
    before: str = field(metadata=example("31.2 % hats"))
    after: str = field(metadata=example("28.9 % hats"))
    distance: float = field(metadata=example(0.04))
    noise: float = field(metadata=example(0.02))
    alarm: bool = field(metadata=example(False))


@dataclass(frozen=True, kw_only=True)
class Drift(VersionResult):
    """Drift between version `compared_with` and the later version `model_version`.

    Args:
        compared_with: Number of the earlier version.
        threshold: Alarm threshold for the distance.
        shifts: Drift of each measure.
    """

    TABLE: ClassVar[str] = "shifts"

    compared_with: int = field(metadata=example(1))
    threshold: float = field(metadata=example(0.1))
    shifts: list[Shift]
