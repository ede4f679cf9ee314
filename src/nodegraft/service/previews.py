"""Response models of previews: what a change of labels or tables would do."""

from typing import Any

from pydantic import Field

from nodegraft.analysis.preview import Preview as Seen
from nodegraft.analysis.version import Version
from nodegraft.service.schemas import Answer, Form, NodeKey
from nodegraft.store.table_changes import TablePreview


class Flipped(Form):
    """Nodes that would be answered differently."""

    before: str = Field(examples=["bikes"])
    """What they are answered to be."""

    after: str = Field(examples=["e-bikes"])
    """What they would be."""

    nodes: int = Field(examples=[31])
    """How many of the nodes asked about."""


class FlippedNode(Form):
    """A node that would be answered differently."""

    node: NodeKey = Field(examples=["p91500"])
    """Its key."""

    before: str = Field(examples=["bikes"])
    """What it is answered to be."""

    after: str = Field(examples=["e-bikes"])
    """What it would be."""

    confidence: float = Field(examples=[0.93])
    """How sure that would be."""


class ChangedPredictions(Answer):
    """Predictions that a change would change; nothing was changed."""

    asked: int = Field(examples=[20000])
    """How many nodes were predicted before and after: all, or a fair sample."""

    flips: list[Flipped]
    """How many predictions change, the most frequent first."""

    examples: list[FlippedNode]
    """Some of them."""

    accuracy_before: float | None = Field(examples=[0.912])
    """Held-out accuracy before."""

    accuracy_after: float | None = Field(examples=[0.911])
    """Held-out accuracy after."""

    objections: list[str]
    """What speaks against the change. With any, a change of labels is refused unless `override`
    says why, and new nodes are not promoted at once."""

    warnings: list[str]
    """What to look at first; warnings do not block the change."""


class Preview(ChangedPredictions):
    """What a change of labels would do; nothing was changed."""

    @classmethod
    def of(cls, version: Version, seen: Seen) -> "Preview":
        """Return the response for a comparison.

        Args:
            version: The version that would be changed.
            seen: What would change.
        """
        return cls(
            model_version=version.number,
            graph_version=version.graph,
            **changed_predictions(seen),
            objections=seen.objections(),
            warnings=seen.warnings(),
        )


class GrowthPreview(ChangedPredictions):
    """What new nodes and edges would do; nothing was changed."""

    nodes_added: int = Field(examples=[12])
    """Nodes that would be added."""

    nodes_removed: int = Field(examples=[0])
    """Nodes that would be removed."""

    edges_added: int = Field(examples=[30])
    """Edges that would be added."""

    edges_removed: int = Field(examples=[0])
    """Edges that would be removed."""

    labels_added: int = Field(examples=[0])
    """Labels that would be added: tables bring none."""

    labels_removed: int = Field(examples=[0])
    """Labels that would be removed with their nodes."""

    labels_lost: dict[str, int] = Field(examples=[{}])
    """Class -> how many of its labels would be removed."""

    @classmethod
    def of(cls, version: Version, seen: TablePreview) -> "GrowthPreview":
        """Return the response for a comparison.

        Args:
            version: The version that would be changed.
            seen: What would change.
        """
        changes, predictions = seen.changes, seen.predictions
        if predictions is None:
            raise ValueError("rows that are only added always leave a version to compare")
        return cls(
            model_version=version.number,
            graph_version=version.graph,
            nodes_added=changes.added,
            nodes_removed=changes.removed,
            edges_added=changes.edges_added,
            edges_removed=changes.edges_removed,
            labels_added=0,
            labels_removed=changes.labels_lost,
            labels_lost=seen.lost,
            **changed_predictions(predictions),
            objections=seen.objections(),
            warnings=seen.warnings(),
        )


def changed_predictions(seen: Seen) -> dict[str, Any]:
    """Return the fields of :class:`ChangedPredictions` that say which predictions change.

    Args:
        seen: What would change.
    """
    return {
        "asked": seen.asked,
        "flips": [
            Flipped(before=before, after=after, nodes=count)
            for (before, after), count in seen.flips.items()
        ],
        "examples": [FlippedNode(**vars(one)) for one in seen.examples],
        "accuracy_before": seen.before.accuracy,
        "accuracy_after": seen.after.accuracy,
    }
