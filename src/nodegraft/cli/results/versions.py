"""Results of commands that make, compare, list and promote versions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from nodegraft.cli.results.result import Result


@dataclass(frozen=True)
class HistoryEntry:
    """Change that made a version.

    Args:
        version: Number of the version.
        action: Name of the command.
        description: The change in a few words.
        detail: Arguments of the change.
        by: Author.
        note: Reason for the change.
        at: Time in UTC.
        accuracy_before: Held-out accuracy before the change; null without held-out nodes.
        accuracy_after: Held-out accuracy after it.
        predictions_compared: Number of nodes that were predicted before and after.
        predictions_changed: Number of those predictions that changed.
    """

    version: int
    action: str
    description: str
    detail: dict[str, Any]
    by: str
    note: str
    at: datetime
    accuracy_before: float | None
    accuracy_after: float | None
    predictions_compared: int | None
    predictions_changed: int | None


@dataclass(frozen=True)
class NewVersion(Result):
    """New version of a store.

    Args:
        model_version: Number of the new version.
        graph_version: Hash of its graph.
        change: The change that made it.
        promoted: Whether it was promoted at once.
        warnings: What to check before it is promoted.
        live: Number of the live version.
        candidate: Number of the version that waits for review; null without one.
        card: File of the model card of a version that is live; null without one.
    """

    model_version: int
    graph_version: str
    change: HistoryEntry
    promoted: bool
    warnings: list[str]
    live: int
    candidate: int | None
    card: str | None


@dataclass(frozen=True)
class ChangedClass:
    """Number of predictions that change from one class to another.

    Args:
        before: Predicted class before.
        after: Predicted class after.
        nodes: Number of nodes.
    """

    before: str
    after: str
    nodes: int


@dataclass(frozen=True)
class ChangedNode:
    """Node whose prediction changes.

    Args:
        node: Its key.
        before: Predicted class before.
        after: Predicted class after.
        confidence: Confidence of the prediction after.
    """

    node: str | int
    before: str
    after: str
    confidence: float


@dataclass(frozen=True)
class Comparison(Result):
    """Predictions that a change of labels would change (`--dry-run`); nothing was changed.

    Args:
        model_version: Number of the version that would be changed.
        graph_version: Hash of its graph.
        predictions_compared: Number of nodes that were predicted before and after.
        predictions_changed: Number of those predictions that change.
        changes: Changes from class to class, the most frequent first.
        examples: Some nodes whose prediction changes.
        accuracy_before: Held-out accuracy before; null without held-out nodes.
        accuracy_after: Held-out accuracy after.
        objections: Reasons of the quality gate to refuse the change.
        warnings: What to check first; warnings do not block the change.
    """

    model_version: int
    graph_version: str
    predictions_compared: int
    predictions_changed: int
    changes: list[ChangedClass]
    examples: list[ChangedNode]
    accuracy_before: float | None
    accuracy_after: float | None
    objections: list[str]
    warnings: list[str]


@dataclass(frozen=True)
class RowsComparison(Result):
    """Effect of new tables (`--dry-run`); nothing was changed.

    Args:
        model_version: Number of the version that would be changed.
        graph_version: Hash of its graph.
        nodes_added: Nodes that would be added.
        nodes_removed: Nodes that would be removed.
        edges_added: Edges that would be added.
        edges_removed: Edges that would be removed.
        labels_removed: Labels that would be removed with their nodes.
        labels_lost: Class -> number of its labels that would be removed.
        predictions_compared: Number of old nodes that were predicted before and after; null if no
            version can be made of the tables, as with the other fields about predictions.
        predictions_changed: Number of those predictions that change.
        changes: Changes from class to class, the most frequent first.
        examples: Some nodes whose prediction changes.
        accuracy_before: Held-out accuracy before; null without held-out nodes.
        accuracy_after: Held-out accuracy after.
        objections: Reasons of the quality gate to refuse the change.
        warnings: What to check first; warnings do not block the change.
    """

    model_version: int
    graph_version: str
    nodes_added: int
    nodes_removed: int
    edges_added: int
    edges_removed: int
    labels_removed: int
    labels_lost: dict[str, int]
    predictions_compared: int | None
    predictions_changed: int | None
    changes: list[ChangedClass]
    examples: list[ChangedNode]
    accuracy_before: float | None
    accuracy_after: float | None
    objections: list[str]
    warnings: list[str]


@dataclass(frozen=True)
class History(Result):
    """Versions of a store.

    Args:
        live: Number of the live version.
        newest: Number of the newest version.
        candidate: Number of the version that waits for review; null without one.
        pruned: Numbers of the pruned versions.
        history: Changes, newest first.
    """

    TABLE: ClassVar[str] = "history"

    live: int
    newest: int
    candidate: int | None
    pruned: list[int]
    history: list[HistoryEntry]


@dataclass(frozen=True)
class Diff(Result):
    """Difference of the version `compared_with` and another one, `model_version`.

    Args:
        model_version: Number of the version after.
        graph_version: Hash of its graph.
        compared_with: Number of the version before.
        predictions_compared: Number of nodes that were predicted by both.
        predictions_changed: Number of those predictions that differ.
        changes: Changes from class to class, the most frequent first.
        examples: Some nodes whose prediction differs.
        accuracy_before: Held-out accuracy of the version before; null without held-out nodes.
        accuracy_after: Held-out accuracy of the version after.
        held_out: Number of held-out nodes of classes that both versions know.
        classes_added: Classes that only the version after knows.
        classes_removed: Classes that only the version before knows.
        objections: Reasons of the quality gate against the version after.
        warnings: What to check before the version after is promoted.
    """

    TABLE: ClassVar[str] = "changes"

    model_version: int
    graph_version: str
    compared_with: int
    predictions_compared: int
    predictions_changed: int
    changes: list[ChangedClass]
    examples: list[ChangedNode]
    accuracy_before: float | None
    accuracy_after: float | None
    held_out: int
    classes_added: list[str]
    classes_removed: list[str]
    objections: list[str]
    warnings: list[str]


@dataclass(frozen=True)
class Promoted(Result):
    """The new live version.

    Args:
        model_version: Number of the version.
        graph_version: Hash of its graph.
        by: Who promoted it.
        at: Time in UTC.
        card: File of its model card; null if it was not written.
    """

    model_version: int
    graph_version: str
    by: str
    at: datetime
    card: str | None
