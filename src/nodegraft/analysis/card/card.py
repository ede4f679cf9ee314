"""Data of a model card: classes, held-out accuracy and history of a version.

The card depends only on its version, the versions before it and its first promotion. A store writes
the database row of a promotion before the card, so the promotion is valid even if writing the card
fails.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version as package_version
from typing import Any

import numpy as np

from nodegraft.analysis.accuracy import ProbabilityBin, predict_labelled
from nodegraft.analysis.snapshot import State
from nodegraft.analysis.version import AccuracyCount, Promotion, Version, describe_version
from nodegraft.evaluation.confusion import ConfusionMatrix
from nodegraft.model.confidence import World
from nodegraft.model.hooks import Capability

THRESHOLDS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Confidence thresholds at which accuracy and coverage are measured."""


@dataclass(frozen=True)
class ClassCard:
    """Entry of a model card for one class."""

    name: str
    """Name of the class."""

    labels: int
    """Number of training labels."""

    since: int
    """Version since which the class has had this name without interruption."""

    held_out: AccuracyCount
    """Accuracy on the held-out nodes of the class."""


@dataclass(frozen=True)
class GraphCard:
    """Entry of a model card for the graph."""

    since: int
    """Version since which the graph is unchanged."""

    nodes: int
    """Number of nodes."""

    features: int
    """Number of features per node."""

    edges: int
    """Number of undirected edges, of all types together."""

    kinds: dict[str, int]
    """Edge type -> number of its edges."""


@dataclass(frozen=True)
class Step:
    """Entry of a model card for one version of its history."""

    version: int
    """Number of the version."""

    what: str
    """Description of the change."""

    by: str
    """Author of the change."""

    at: str
    """Time of the change in UTC, in ISO 8601."""

    note: str
    """Reason for the change, as given by the author."""

    override: str
    """Reason for overriding a drop of held-out accuracy; empty without an override."""

    held_out: AccuracyCount
    """Accuracy on held-out nodes, measured when the version was made."""

    was_live: bool
    """Whether the version was promoted before the card was written."""


@dataclass(frozen=True)
class Card:
    """Model card of a version."""

    version: int
    """Number of the version."""

    nodegraft: str
    """Version of the package that made the card."""

    method: str
    """Name of the method."""

    parameters: dict[str, Any]
    """Hyper-parameters of the method."""

    world: World
    """Whether nodes may belong to unknown classes, which changes the meaning of confidence."""

    share_of_known_classes: float | None
    """Estimated share of unlabelled nodes that belong to known classes; None if not estimated."""

    graph: GraphCard
    """Graph of the version."""

    classes: tuple[ClassCard, ...]
    """Classes of the version."""

    held_out: AccuracyCount
    """Accuracy on all held-out nodes."""

    reliability: dict[float, AccuracyCount] | None
    """Confidence threshold -> held-out accuracy at or above it; None without calibration."""

    calibration: tuple[ProbabilityBin, ...]
    """Accuracy on held-out nodes in bins of similar predicted probability."""

    confusion: ConfusionMatrix | None
    """Confusion matrix of held-out nodes; None without held-out nodes."""

    history: tuple[Step, ...]
    """Versions up to this one, oldest first."""

    promotion: Promotion | None
    """First promotion of the version; None if it was never live."""

    @property
    def unmeasured(self) -> list[str]:
        """Names of classes without held-out nodes, so their accuracy is unknown."""
        return [card.name for card in self.classes if not card.held_out.total]

    def to_json(self) -> dict[str, Any]:
        """Return the card as plain JSON."""
        levels = (self.reliability or {}).items()
        reliability = {f"{least:.2f}": count.to_json() for least, count in levels}
        history = [{**asdict(step), "held_out": step.held_out.to_json()} for step in self.history]
        promotion = self.promotion and {**vars(self.promotion), "at": _iso(self.promotion)}
        return {
            **asdict(self),
            "classes": [
                {**asdict(card), "held_out": card.held_out.to_json()} for card in self.classes
            ],
            "held_out": self.held_out.to_json(),
            "calibration": [group.to_json() for group in self.calibration],
            "confusion": self.confusion.to_json() if self.confusion else [],
            "history": history,
            "reliability": reliability or None,
            "promotion": promotion,
        }


def card_of(
    state: State,
    history: Sequence[Version],
    promotion: Promotion | None,
    class_names: Callable[[str], Iterable[str]],
    live: Collection[int] = (),
    pruned: Collection[int] = (),
) -> Card:
    """Return the model card of a version.

    Args:
        state: Graph, labels and model of the version.
        history: Versions up to this one, oldest first.
        promotion: First promotion of the version; None if it was never live.
        class_names: Function that returns the class names in the labels object with a given name.
    """
    version_row, whole = history[-1], [past for past in history if past.number not in pruned]
    predictions = predict_labelled(state, None) if state.labels.held_out else None
    not_measured = AccuracyCount(0, 0)
    by_class = predictions.by_class if predictions else {}
    right = predictions.is_right if predictions else np.zeros(0, dtype=bool)
    confidence = predictions.confidence if predictions else np.zeros(0)
    since = _since(whole, lambda past: set(class_names(past.labels)))
    kinds = state.graph.edge_counts
    calibrated = Capability.CALIBRATED in state.model.capabilities()
    return Card(
        version=version_row.number,
        nodegraft=package_version("nodegraft"),
        method=state.model.name,
        parameters=state.model.get_params(),
        world=state.model.world,
        share_of_known_classes=state.model.share_of_known_classes(state.graph),
        graph=GraphCard(
            since=_since(whole, lambda past: {past.graph})[version_row.graph],
            nodes=state.graph.num_nodes,
            features=state.graph.num_features,
            edges=state.graph.num_edges_of_all_types,
            kinds=kinds,
        ),
        classes=tuple(
            ClassCard(name, len(labels.training), since[name], by_class.get(name, not_measured))
            for name, labels in state.labels.items()
        ),
        held_out=_count(right),
        reliability={least: _count(right[confidence >= least]) for least in THRESHOLDS}
        if calibrated
        else None,
        calibration=predictions.calibration if predictions else (),
        confusion=predictions.confusion if predictions else None,
        history=tuple(_step(version, version.number in live) for version in history),
        promotion=promotion,
    )


def _count(right: Any) -> AccuracyCount:
    return AccuracyCount(right.size, int(right.sum()))


def _since(history: Sequence[Version], names: Callable[[Version], set[str]]) -> dict[str, int]:
    """Return each name in the last version -> version since which all versions have the name."""
    unchanged = names(history[-1])
    since: dict[str, int] = {}
    for past in reversed(history):
        unchanged = unchanged & names(past)
        if not unchanged:
            break
        since |= dict.fromkeys(unchanged, past.number)
    return since


def _step(version: Version, was_live: bool) -> Step:
    return Step(
        version.number,
        describe_version(version),
        version.by,
        _iso(version),
        version.note,
        version.measures.get("override", ""),
        version.held_out,
        was_live,
    )


def _iso(row: Version | Promotion) -> str:
    return row.at.isoformat(timespec="seconds")
