"""Results about stores whose nodes may have several labels."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from nodegraft.analysis.results.result import NodeKey, Result, VersionResult, example
from nodegraft.analysis.version import Version

if TYPE_CHECKING:
    from nodegraft.analysis.label_sets.preview import SetPreview
    from nodegraft.methods.multi_label.labels import LabelSets


@dataclass(frozen=True)
class NodeClass(Result):
    """A class of a node.

    Args:
        class_: Class name.
        probability: P(the node has the class). The probabilities of a node do not add up to 1.
        threshold: Minimum probability of the class to be predicted.
        reason: `own_label` if a user gave the node this label, otherwise `prediction`.
    """

    class_: str = field(metadata=example("editor", "class"))
    probability: float = field(metadata=example(0.93))
    threshold: float = field(metadata=example(0.41))
    reason: Literal["own_label", "prediction"] = field(metadata=example("prediction"))


@dataclass(frozen=True)
class NodeClasses(Result):
    """All classes of a node.

    Args:
        node: Node key.
        found: Whether the node is in the graph.
        classes: Labels and predicted classes, the most probable first; may be empty.
    """

    node: NodeKey = field(metadata=example("nano"))
    found: bool = field(metadata=example(True))
    classes: list[NodeClass]


@dataclass(frozen=True, kw_only=True)
class LabelSetPredictions(VersionResult):
    """Classes of the requested nodes, if nodes may have several.

    Args:
        predictions: Classes of each node, in the requested order.
    """

    predictions: list[NodeClasses]


@dataclass(frozen=True)
class ClassEffect(Result):
    """Effect of a change on one class.

    Args:
        name: Class name.
        labels: Number of labels after the change.
        predicted: Number of compared nodes that are predicted to have the class after the change.
        gained: Number of these nodes that were not predicted to have it before.
        lost: Number of compared nodes that are no longer predicted to have it.
    """

    name: str = field(metadata=example("editor"))
    labels: int = field(metadata=example(16))
    predicted: int = field(metadata=example(120))
    gained: int = field(metadata=example(31))
    lost: int = field(metadata=example(4))


@dataclass(frozen=True, kw_only=True)
class LabelSetComparison(VersionResult):
    """Effect of a change on predicted classes, if nodes may have several.

    Args:
        predictions_compared: Number of nodes that were predicted before and after: all nodes, or a
            random sample.
        predictions_changed: Number of compared nodes whose set of predicted classes changes.
        classes: Effect on each class that is new, removed, relabelled, or predicted for other
            nodes.
        warnings: Warnings to check before the change; they do not block it.
    """

    predictions_compared: int = field(metadata=example(20000))
    predictions_changed: int = field(metadata=example(112))
    classes: list[ClassEffect]
    warnings: list[str]

    @classmethod
    def of(cls, version: Version, preview: "SetPreview") -> Self:
        """Return the effect of a change on a version.

        Args:
            preview: Comparison in the library's own form.
        """
        return cls(
            **version.fields,
            predictions_compared=preview.compared,
            predictions_changed=preview.changed,
            classes=list(preview.classes),
            warnings=preview.warnings(),
        )


@dataclass(frozen=True)
class LabelSetClass(Result):
    """A class of a version whose nodes may have several labels.

    Args:
        name: Class name.
        labels: Number of labels.
    """

    name: str = field(metadata=example("editor"))
    labels: int = field(metadata=example(16))


@dataclass(frozen=True, kw_only=True)
class LabelSetClasses(VersionResult):
    """All classes of a version whose nodes may have several labels.

    Args:
        classes: Classes in the order in which they were added.
    """

    TABLE: ClassVar[str] = "classes"

    classes: list[LabelSetClass]

    @classmethod
    def of(cls, version: Version, labels: "LabelSets") -> Self:
        """Return the classes of a version.

        Args:
            labels: Labels of the version.
        """
        known = [LabelSetClass(name, int(keys.size)) for name, keys in labels.items()]
        return cls(**version.fields, classes=known)
