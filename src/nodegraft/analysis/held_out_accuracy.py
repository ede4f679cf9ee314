"""Held-out accuracy of two versions, compared under the class names of the later one."""

from collections.abc import Iterable

from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.labels.succession import ClassSuccession
from nodegraft.analysis.measures import RightAnswers, right_answers
from nodegraft.analysis.snapshot import State
from nodegraft.graph.keys import Key


def held_out_accuracy(
    before: State, after: State, names: ClassSuccession
) -> tuple[RightAnswers, RightAnswers]:
    """Count right predictions before and after for nodes that both versions hold out.

    Predictions before count under the names after: classes that were merged are one. Where a class
    was split, any of its parts counts as right, as the version before could not tell them apart.

    Args:
        before: One version.
        after: The other.
        names: Which classes were renamed, merged or split.
    """
    nodes = _held_out_in_both(before.labels, after.labels, names)
    alike = {
        name: [other for other in before.labels if names.of(other) == names.of(name)]
        for name in nodes
    }
    accepted = {name: names.of(name) for name in nodes}
    later = _later_names(nodes, names)
    return (
        right_answers(before, nodes, alike).renamed(later),
        right_answers(after, nodes, accepted).renamed(later),
    )


def _held_out_in_both(
    before: StoreLabels, after: StoreLabels, names: ClassSuccession
) -> dict[str, tuple[Key, ...]]:
    """Old class -> nodes that are held out for it before, and for what continues it after."""
    found = {}
    for name, keys in before.held_out.items():
        later = {key for new in names.of(name) if new in after for key in after[new].held_out}
        found[name] = tuple(key for key in keys if key in later)
    return {name: keys for name, keys in found.items() if keys}


def _later_names(old: Iterable[str], names: ClassSuccession) -> dict[str, str]:
    """The name after the change; a class that was split is counted under its old name."""
    return {name: name if names.is_split(name) else next(iter(names.of(name))) for name in old}
