"""Comparison of two versions: what a change does, also before it is made."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import pyarrow as pa

from nodegraft.analysis.accuracy import (
    CorrectCounts,
    count_correct,
    held_out_accuracy,
    split_half_check,
)
from nodegraft.analysis.labels.changes import (
    ChangedClass,
    ClassSuccession,
    changed_classes,
    class_warnings,
)
from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.results.versions import ChangedNode
from nodegraft.analysis.snapshot import SAMPLE, State
from nodegraft.base.tabular import Tabular
from nodegraft.graph.keys import Key

EXAMPLES = 10
"""Number of nodes whose prediction changes that are listed."""

NORMAL, SEVERAL = 1.96, 3.0
"""Standard errors that count as noise: for one number, and for the worst of many classes."""

MIXED_PROBABILITY, MIXED_SHARE = 0.5, 0.8
"""Labels of a new class look like a mixture of known classes if the version before predicted them
with a higher mean probability than the first number, and no known class for a larger share of them
than the second."""


@dataclass(frozen=True)
class PriorPredictions:
    """Predictions for the labels of a new class by the version before it."""

    classes: dict[str, int]
    """Known class -> number of labels, the most frequent first."""

    probability: float
    """Mean probability of these predictions."""

    @property
    def mixed(self) -> bool:
        """Whether the labels look like a mixture of known classes."""
        counts = list(self.classes.values())
        return self.probability > MIXED_PROBABILITY and max(counts) < MIXED_SHARE * sum(counts)


@dataclass(frozen=True)
class Preview(Tabular):
    """Changes between two versions."""

    asked: int
    """Number of nodes that were compared: all, or a fair sample."""

    nodes: int
    """Approximate number of nodes that both versions have."""

    flips: dict[tuple[str, str], int]
    """(class before, class after) -> number of nodes, the most frequent first. A prediction whose
    class was only renamed or merged is no change."""

    examples: tuple[ChangedNode, ...]
    """Some of these nodes that have no label, the most confident predictions first."""

    before: CorrectCounts
    """Held-out accuracy before, on classes that both versions have."""

    after: CorrectCounts
    """Held-out accuracy after, on the same nodes."""

    new: CorrectCounts
    """Labels of each new class that the other half of its labels recognises."""

    prior: dict[str, PriorPredictions]
    """New class -> predictions for its labels by the version before."""

    parts: dict[tuple[str, str], int]
    """(class that was split, its part) -> number of predictions that moved from the class to the
    part; they are not among ``flips``."""

    changed: dict[str, ChangedClass]
    """Classes that are new or have other labels."""

    classes: int
    """Number of classes after the change."""

    @property
    def flipped(self) -> int:
        """Number of compared nodes whose prediction changes."""
        return sum(self.flips.values())

    def to_arrow(self) -> pa.Table:
        """Return a table of the changes: before, after, nodes."""
        before, after = ([pair[side] for pair in self.flips] for side in (0, 1))
        return pa.table({"before": before, "after": after, "nodes": list(self.flips.values())})

    @property
    def forgetting(self) -> float | None:
        """Drop of held-out accuracy; None without held-out nodes."""
        if self.before.accuracy is None or self.after.accuracy is None:
            return None
        return self.before.accuracy - self.after.accuracy

    @property
    def noise(self) -> float | None:
        """Drop that chance alone exceeds once in twenty times, and at least one node."""
        accuracy, nodes = self.before.accuracy, self.before.nodes
        return None if accuracy is None else _noise(accuracy, nodes, NORMAL)

    def warnings(self) -> list[str]:
        """Return sentences on what to check before the change is promoted; they block nothing."""
        return class_warnings(self.changed, self.classes, self.asked)

    def objections(self) -> list[str]:
        """Return sentences against the change; none if held-out accuracy stays within noise."""
        found = []
        old, new, noise = self.before.accuracy, self.after.accuracy, self.noise
        if old is not None and new is not None and noise is not None and old - new > noise:
            found.append(
                f"Held-out accuracy would drop from {100 * old:.1f} % to {100 * new:.1f} % "
                f"({self.before.nodes:,} nodes; ±{100 * noise:.1f} points is within noise)."
            )
        for name, asked in self.before.asked.items():
            recall = self.before.recall(name)
            if recall - self.after.recall(name) > _noise(recall, asked, SEVERAL):
                found.append(
                    f"Held-out accuracy of class {name!r} would drop from "
                    f"{self.before.right[name]} to {self.after.right[name]} of {asked} nodes."
                )
        mixed = [
            name for name, right in self.new.right.items() if not right and self.prior[name].mixed
        ]
        return found + [
            f"Split-half check of {name!r}: 0 of {self.new.asked[name]} examples recognised, and "
            f"they are predicted as several known classes "
            f"({', '.join(self.prior[name].classes)}). Check that they belong to one class."
            for name in mixed
        ]


def compare(before: State, after: State, succession: ClassSuccession | None = None) -> Preview:
    """Compare the predictions of two versions for nodes that both have.

    Args:
        after: The other; it may have other nodes.
        succession: Which classes were renamed, merged or split; None to derive it from the labels.
    """
    names = succession or ClassSuccession.between(before.labels, after.labels)
    graph = before.graph
    rows = graph.sampled(SAMPLE, graph.rows[:0])
    is_sample = rows.size < graph.num_nodes
    if after.graph is not graph:
        rows = rows[after.graph.node_keys.find(graph.key_array_of(rows)) >= 0]
    keys = graph.keys_of(rows)
    old = before.predict(rows).classes
    predictions = after.predict(after.graph.rows_of(keys))
    new, confidence = predictions.classes, predictions.confidence
    pairs = Counter(zip(old.tolist(), new.tolist(), strict=True))
    flips = {pair: count for pair, count in pairs.most_common() if not names.continues(*pair)}
    moved = [place for place in range(len(keys)) if (old[place], new[place]) in flips]
    labelled = after.labels.owners()
    unlabelled = [place for place in moved if keys[place] not in labelled]
    shown = sorted(unlabelled, key=lambda place: -confidence[place])[:EXAMPLES]
    fresh = _new_classes(before.labels, after.labels)
    right_before, right_after = held_out_accuracy(before, after, names)
    return Preview(
        asked=len(keys),
        nodes=graph.num_nodes if is_sample else len(keys),
        flips=flips,
        examples=tuple(
            ChangedNode(keys[place], old[place], new[place], float(confidence[place]))
            for place in shown
        ),
        before=right_before,
        after=right_after,
        new=split_half_check(before, fresh),
        prior={name: _prior_predictions(before, nodes) for name, nodes in fresh.items()},
        parts={
            pair: count
            for pair, count in pairs.most_common()
            if names.is_split(pair[0]) and names.continues(*pair)
        },
        changed=changed_classes(before.labels, after.labels, names, pairs),
        classes=len(after.labels),
    )


def compare_with_record(measures: Mapping[str, Any], after: State) -> Preview:
    """Compare the held-out accuracy of a version with the record of one that cannot be loaded.

    Args:
        measures: Recorded measures of the version that cannot be loaded.
        after: The version, with the same graph and labels.
    """
    # There is no record where an older change was undone beneath later ones.
    record = measures.get("after") or {"asked": {}, "right": {}}
    # Equal counts of a class mean that the same nodes are held out.
    nodes = {
        name: keys
        for name, keys in after.labels.held_out.items()
        if record["asked"].get(name) == len(keys)
    }
    before = CorrectCounts(
        *({name: record[what][name] for name in nodes} for what in ("asked", "right"))
    )
    return Preview(
        asked=0,
        nodes=after.graph.num_nodes,
        flips={},
        examples=(),
        before=before,
        after=count_correct(after, nodes),
        new=CorrectCounts({}, {}),
        prior={},
        parts={},
        changed={},
        classes=len(after.labels),
    )


def _new_classes(before: StoreLabels, after: StoreLabels) -> dict[str, tuple[Key, ...]]:
    """Return classes whose nodes had no label before: not renamed, merged or split ones."""
    owned = before.owners()
    return {
        name: keys
        for name, keys in after.taught.items()
        if name not in before and not any(key in owned for key in keys)
    }


def _prior_predictions(before: State, nodes: tuple[Key, ...]) -> PriorPredictions:
    predictions = before.predict(before.graph.rows_of(nodes))
    classes = Counter(predictions.classes.tolist()).most_common()
    return PriorPredictions(dict(classes), float(predictions.probability.mean()))


def _noise(share: float, nodes: int, errors: float) -> float:
    # Agresti and Coull: add four nodes, two of them correct, so that a share of 1 has noise too.
    likely = (share * nodes + 2.0) / (nodes + 4.0)
    return max(errors * sqrt(likely * (1.0 - likely) / nodes), 1.0 / nodes)
