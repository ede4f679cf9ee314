"""Class streams that are built from the labels of a store, to compare methods.

The arrival setting is ``present``: the store's whole graph exists from the start, and only labels
arrive.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from nodegraft.analysis.snapshot import State
from nodegraft.base.errors import StoreError
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.arrival import Arrival
from nodegraft.streams.setting import Setting
from nodegraft.streams.stream import ClassStream

FEWEST_CLASSES = 4
"""Minimum number of classes for a comparison: two known and two new."""

FEWEST_LABELS = 4
"""Minimum number of labels per class, which are divided into training, held-out and query nodes."""

SESSIONS = 5
"""Maximum number of sessions; if there are more new classes, each session adds several classes."""

SHOWN = 20
"""Maximum number of excluded classes that are listed by name; the rest are counted."""

ARRIVAL: Arrival = "present"
"""Arrival setting: all nodes of a store's graph are visible from the start; only labels arrive."""


@dataclass(frozen=True)
class Plan:
    """Classes that are used in a comparison, and their roles."""

    setting: Setting
    """Numbers of known and new classes, and number of labels per new class."""

    classes: dict[str, int]
    """Class that is used in the comparison -> number of its labels."""

    left_out: dict[str, int]
    """Class that is excluded because it has too few labels -> number of its labels."""

    needed: int
    """Minimum number of labels per class; half of them are for training, half for testing."""

    def exclusion(self) -> str:
        """Return a sentence that lists the excluded classes; empty if there are none."""
        if not self.left_out:
            return ""
        named = [f"{name} ({count})" for name, count in self.left_out.items()]
        more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
        return (
            f"Excluded for too few labels: {', '.join(named[:SHOWN])}{more}. A class needs "
            f"{self.needed}, half of them for training, half for testing."
        )


def make_plan(labels: Mapping[str, int], shots: int) -> Plan:
    """Plan a comparison in which half of the classes are known; raise an error for too few classes.

    >>> plan = make_plan({"a": 20, "b": 12, "c": 10, "d": 40, "e": 9}, shots=5)
    >>> print(plan.setting, plan.left_out)
    2/0/0/2 classes (base/pseudo-novel/validation/novel), 1-way 5-shot {'e': 9}
    """
    validate_value("shots", shots, PositiveInt)
    needed = max(FEWEST_LABELS, 2 * shots)
    classes = {name: count for name, count in labels.items() if count >= needed}
    left_out = {name: count for name, count in labels.items() if count < needed}
    if len(classes) < FEWEST_CLASSES:
        raise StoreError(_too_few(len(classes), left_out, needed))
    novel = len(classes) // 2
    # A comparison on a store reserves no classes for meta-training or for tuning.
    setting = Setting(
        base=len(classes) - novel,
        pseudo_novel=0,
        validation=0,
        novel=novel,
        ways=-(-novel // SESSIONS),
        shots=shots,
    )
    return Plan(setting, classes, left_out, needed)


def own_stream(state: State, plan: Plan, seed: int) -> ClassStream:
    """Build a random stream from the graph and the labels of a version; its model is not used.

    Training and query nodes are sampled from all labels, including held-out ones.
    """

    labels = NodeLabels.by_key(state.graph, {name: state.labels[name].all for name in plan.classes})
    return ClassStream.draw(state.graph, labels, plan.setting, seed=seed, arrival=ARRIVAL)


def _too_few(enough: int, left_out: Mapping[str, int], needed: int) -> str:
    nearest = sorted(left_out, key=lambda name: (-left_out[name], name))[:FEWEST_CLASSES]
    text = ", ".join(f"{name!r} has {left_out[name]}" for name in nearest)
    lacking = f" Others: {text}." if text else ""
    fewer = " Or use fewer labels of each new class: shots=… (--shots)." if left_out else ""
    return (
        f"An evaluation needs at least {FEWEST_CLASSES} classes with {needed} labels each; this "
        f"version has {enough} such classes.{lacking} Add labels with "
        f"`label`, or classes with `add`.{fewer}"
    )
