"""Model card as data: classes, held-out accuracy and history of a version.

A card is a function of its version, the versions before it and its first promotion. It is written
after the row of the promotion, so an error in writing it leaves the promotion in place.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version as package_version
from typing import Any

import numpy as np

from nodegraft.analysis.description import what_it_did
from nodegraft.analysis.snapshot import State
from nodegraft.analysis.version import Promotion, Version
from nodegraft.evaluation.metrics import share_interval
from nodegraft.model.confidence import World
from nodegraft.model.hooks import Capability

THRESHOLDS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
"""The confidences that answers are asked to have."""


@dataclass(frozen=True)
class Counted:
    """How many answers about held-out nodes were right."""

    asked: int
    """How many nodes were asked about."""

    right: int
    """How many of them were answered rightly."""

    @property
    def share(self) -> float | None:
        """The share of right answers; None where nobody was asked about."""
        return self.right / self.asked if self.asked else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its 95 % interval, as if held-out nodes had been drawn at random."""
        return share_interval(self.right, self.asked) if self.asked else None

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {**asdict(self), "share": self.share, "interval": self.interval}


@dataclass(frozen=True)
class ClassCard:
    """One class of a version."""

    name: str
    """What it is called."""

    labels: int
    """How many nodes teach it."""

    since: int
    """The version from which on it has been known by this name without a break."""

    held_out: Counted
    """What was answered about its nodes that do not teach."""


@dataclass(frozen=True)
class GraphCard:
    """The graph of a version."""

    since: int
    """The version that brought it."""

    nodes: int
    """How many nodes it has."""

    features: int
    """How many features each of them has."""

    edges: int
    """How many pairs of nodes are joined."""

    kinds: dict[str, int]
    """Kind of edges -> how many there are; two nodes may be joined by several."""


@dataclass(frozen=True)
class Step:
    """One version on the way to this one."""

    version: int
    """Its number."""

    what: str
    """What was done."""

    by: str
    """Who did it."""

    at: str
    """When, in UTC, as ISO 8601 writes it."""

    note: str
    """Why, in their words."""

    override: str
    """The reason for doing it although held-out nodes spoke against it, or nothing."""

    accuracy: float | None
    """The share of held-out nodes that were answered rightly then; None where it was not asked."""


@dataclass(frozen=True)
class Card:
    """All that somebody should know before relying on a version."""

    version: int
    """Its number."""

    nodegraft: str
    """The version of the package that made the card."""

    method: str
    """The name of the method."""

    parameters: dict[str, Any]
    """Its hyper-parameters."""

    world: World
    """Whether nodes may belong to classes that are not known: it decides what confidence means."""

    share_of_known_classes: float | None
    """Estimated share of unlabelled nodes that belong to known classes; None without one."""

    graph: GraphCard
    """What it was taught on."""

    classes: tuple[ClassCard, ...]
    """What it was taught."""

    held_out: Counted
    """What it answered about all nodes that do not teach."""

    reliability: dict[float, Counted] | None
    """Least confidence -> the answers about held-out nodes that have it; None where the method
    gives no calibrated confidence, and cannot abstain."""

    history: tuple[Step, ...]
    """How it came about, oldest first."""

    promotion: Promotion | None
    """Who let it answer for the first time, and why; None if nobody has."""

    @property
    def unmeasured(self) -> list[str]:
        """The classes of which no node is held out: nothing is known of how they are answered."""
        return [one.name for one in self.classes if not one.held_out.asked]

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        levels = (self.reliability or {}).items()
        reliability = {f"{least:.2f}": one.to_json() for least, one in levels}
        promotion = self.promotion and {**vars(self.promotion), "at": _iso(self.promotion)}
        return {
            **asdict(self),
            "classes": [
                {**asdict(one), "held_out": one.held_out.to_json()} for one in self.classes
            ],
            "held_out": self.held_out.to_json(),
            "reliability": reliability or None,
            "promotion": promotion,
        }


def card_of(
    state: State,
    history: Sequence[Version],
    promotion: Promotion | None,
    class_names: Callable[[str], Iterable[str]],
    pruned: Collection[int] = (),
) -> Card:
    """The card of a version.

    Args:
        state: The version.
        history: Versions up to it, oldest first; it is the last.
        promotion: Who let it answer for the first time.
        class_names: The classes that an object of labels is of.
        pruned: Versions of which nobody knows any more which classes they had.
    """
    found, whole = history[-1], [one for one in history if one.number not in pruned]
    truth, answers, sure = _held_out_answers(state)
    right = truth == answers
    since = _since(whole, lambda one: set(class_names(one.labels)))
    calibrated = Capability.CALIBRATED in state.model.capabilities()
    return Card(
        version=found.number,
        nodegraft=package_version("nodegraft"),
        method=state.model.name,
        parameters=state.model.get_params(),
        world=state.model.world,
        share_of_known_classes=state.model.share_of_known_classes(state.graph),
        graph=_graph(state, _since(whole, lambda one: {one.graph})[found.graph]),
        classes=tuple(
            ClassCard(name, len(one.taught), since[name], _counted(right[truth == name]))
            for name, one in state.labels.items()
        ),
        held_out=_counted(right),
        reliability={least: _counted(right[sure >= least]) for least in THRESHOLDS}
        if calibrated
        else None,
        history=tuple(map(_step, history)),
        promotion=promotion,
    )


def _held_out_answers(state: State) -> tuple[Any, Any, Any]:
    """Of each held-out node its class, what is answered, and how sure that is."""
    held_out = state.labels.held_out
    keys = [key for some in held_out.values() for key in some]
    truth = np.array([name for name, some in held_out.items() for _ in some], dtype=object)
    if not keys:
        return truth, truth, np.zeros(0)
    found = state.answers(state.graph.rows_of(keys))
    return truth, found.classes, found.confidence


def _counted(right: Any) -> Counted:
    return Counted(right.size, int(right.sum()))


def _since(history: Sequence[Version], names: Callable[[Version], set[str]]) -> dict[str, int]:
    """Name that the last version has -> the first version from which on all have it."""
    left = names(history[-1])
    since: dict[str, int] = {}
    for one in reversed(history):
        left = left & names(one)
        if not left:
            break
        since |= dict.fromkeys(left, one.number)
    return since


def _graph(state: State, since: int) -> GraphCard:
    graph = state.graph
    kinds = {kind: int(graph.edges_of(kind)[0].size) for kind in graph.relations}
    return GraphCard(since, graph.num_nodes, graph.num_features, graph.num_edges, kinds)


def _step(version: Version) -> Step:
    measures = version.measures
    return Step(
        version.number,
        what_it_did(version),
        version.by,
        _iso(version),
        version.note,
        measures.get("override", ""),
        measures.get("after", {}).get("accuracy"),
    )


def _iso(row: Version | Promotion) -> str:
    return row.at.isoformat(timespec="seconds")
