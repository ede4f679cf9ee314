"""Stream that is made of the labels of a store, to compare methods on them.

The arrival is ``present``: the graph of a store exists from the start, and labels arrive.
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
"""Two that are known and two that arrive: with fewer there is nothing to confuse."""

FEWEST_LABELS = 4
"""A known class is split into nodes that teach, that are held out, and that are asked about."""

SESSIONS = 5
"""So many sessions at most, whatever the number of classes; then several arrive in one."""

SHOWN = 20
"""So many classes that are left out are named; the others are counted."""

ARRIVAL: Arrival = "present"
"""All nodes of a store's graph are there from the start; it is labels that arrive."""


@dataclass(frozen=True)
class Plan:
    """Which classes take part, and in which roles."""

    setting: Setting
    """How many classes are known and new, and how many labels teach a new one."""

    classes: dict[str, int]
    """Class that takes part -> how many labels it has."""

    left_out: dict[str, int]
    """Class with too few labels -> how many it has."""

    needed: int
    """How many labels a class must have to take part: half of them teach it, half check it."""

    def exclusion(self) -> str:
        """A sentence on the classes that take no part, or nothing."""
        if not self.left_out:
            return ""
        named = [f"{name} ({count})" for name, count in self.left_out.items()]
        more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
        return (
            f"Excluded for too few labels: {', '.join(named[:SHOWN])}{more}. A class needs "
            f"{self.needed}, half of them for training, half for testing."
        )


def make_plan(labels: Mapping[str, int], shots: int) -> Plan:
    """Half of the classes are known, the others arrive; an error where there are too few.

    >>> plan = make_plan({"a": 20, "b": 12, "c": 10, "d": 40, "e": 9}, shots=5)
    >>> print(plan.setting, plan.left_out)
    2/0/0/2 classes (base/pseudo-novel/validation/novel), 1-way 5-shot {'e': 9}

    Args:
        labels: Class name -> how many labels it has.
        shots: How many labels teach a new class.
    """
    validate_value("shots", shots, PositiveInt)
    needed = max(FEWEST_LABELS, 2 * shots)
    classes = {name: count for name, count in labels.items() if count >= needed}
    left_out = {name: count for name, count in labels.items() if count < needed}
    if len(classes) < FEWEST_CLASSES:
        raise StoreError(_too_few(len(classes), left_out, needed))
    novel = len(classes) // 2
    # No class is kept back to practise or to choose settings on: a store does neither.
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
    """Sessions drawn from the graph and the labels of a version; its model plays no part.

    Labels that the store holds out are labels like the others here: who teaches and who is asked
    about is drawn anew.

    Args:
        state: The version.
        plan: Which classes take part.
        seed: Draws which classes are new, and which nodes teach.
    """
    labels = NodeLabels.by_key(state.graph, {name: state.labels[name].all for name in plan.classes})
    return ClassStream.draw(state.graph, labels, plan.setting, seed=seed, arrival=ARRIVAL)


def _too_few(enough: int, left_out: Mapping[str, int], needed: int) -> str:
    nearest = sorted(left_out, key=lambda name: (-left_out[name], name))[:FEWEST_CLASSES]
    shown = ", ".join(f"{name!r} has {left_out[name]}" for name in nearest)
    lacking = f" Others: {shown}." if shown else ""
    fewer = " Or use fewer labels of each new class: shots=… (--shots)." if left_out else ""
    return (
        f"An evaluation needs at least {FEWEST_CLASSES} classes with {needed} labels each; this "
        f"version has {enough} such classes.{lacking} Add labels with "
        f"`label`, or classes with `add`.{fewer}"
    )
