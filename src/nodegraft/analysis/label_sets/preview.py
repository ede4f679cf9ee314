"""Comparison of predicted classes before and after a change, if nodes may have several."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from nodegraft.analysis.label_sets.state import LabelSetState
from nodegraft.analysis.results.label_sets import ClassEffect
from nodegraft.base.counting import listed
from nodegraft.base.tabular import Records


@dataclass(frozen=True)
class SetPreview:
    """Effect of a change on predicted classes."""

    compared: int
    """Number of nodes that were predicted before and after: all nodes, or a sample."""

    nodes: int
    """Number of nodes of the graph before the change that can have classes."""

    changed: int
    """Number of compared nodes whose set of predicted classes changes."""

    classes: Records[ClassEffect]
    """Effect on each class that is new, removed, relabelled, or predicted for other nodes."""

    def warnings(self) -> list[str]:
        """Return warnings to check before promotion; they do not block the change."""
        return single_label_warnings(effect.name for effect in self.classes if effect.labels == 1)

    def measures(self) -> dict[str, object]:
        """Return the measurements that are stored with a version."""
        return {"asked": self.compared, "flipped": self.changed, "warnings": self.warnings()}


def single_label_warnings(names: Iterable[str]) -> list[str]:
    """Return a warning of classes with only one label; an empty list if there are none.

    >>> single_label_warnings(["game"])[0][:32]
    "Class 'game' has only 1 label: i"

    Args:
        names: Names of the classes.
    """
    match [repr(name) for name in names]:
        case []:
            return []
        case [name]:
            found = f"Class {name} has only 1 label: its predictions depend on that node alone."
        case several:
            found = (
                f"Classes {listed(several)} have only 1 label each: the predictions of such a "
                "class depend on that node alone."
            )
    return [f"{found} Add more labels."]


def compare_sets(
    before: LabelSetState, after: LabelSetState, renamed: Mapping[str, str] | None = None
) -> SetPreview:
    """Compare the predicted classes of two versions of the same graph.

    Args:
        before: Earlier version.
        after: Later version.
        renamed: Old name -> new name of renamed classes.
    """
    old = before.sample
    new = after.sample if after.graph is before.graph else after.predicted(old.keys)
    none = np.zeros(len(old.keys), dtype=bool)
    is_changed, effects = none.copy(), Records[ClassEffect]()
    former = {name: old_name for old_name, name in (renamed or {}).items()}
    kept = (name for name in before.labels if name not in former.values())
    for name in dict.fromkeys((*kept, *after.labels)):
        old_name = former.get(name, name)
        was, is_now = (
            part.is_predicted[:, part.names.index(own_name)] if own_name in part.names else none
            for part, own_name in ((old, old_name), (new, name))
        )
        own = after.labels.keyed.get(name, ())
        effect = ClassEffect(
            name,
            len(own),
            int(is_now.sum()),
            int((is_now & ~was).sum()),
            int((was & ~is_now).sum()),
        )
        is_changed |= was != is_now
        is_same = old_name in before.labels and np.array_equal(before.labels[old_name], own)
        if not is_same or effect.gained or effect.lost:
            effects.append(effect)
    nodes = before.graph.targets.size
    return SetPreview(len(old.keys), nodes, int(is_changed.sum()), effects)
