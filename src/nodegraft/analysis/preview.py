"""Comparison of two versions: effect of a change, made or only previewed, on predictions."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
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
from nodegraft.analysis.results.comparisons import ChangedNode
from nodegraft.analysis.snapshot import SAMPLE, State
from nodegraft.base.tabular import Tabular
from nodegraft.graph.keys import Key
from nodegraft.graph.labels import similar_names

EXAMPLES = 10
"""Number of example nodes to list whose prediction changes."""

NORMAL, SEVERAL = 1.96, 3.0
"""A drop is noise up to this many standard errors: of total accuracy, and of a single class."""

MIXED_PROBABILITY, MIXED_SHARE = 0.5, 0.8
"""The labelled nodes of a new class look like a mixture of known classes if the earlier version
predicted them with a mean probability above the first number, and if no known class was predicted
for a share of them above the second number."""


@dataclass(frozen=True)
class PriorPredictions:
    """Predictions that the earlier version makes for the labelled nodes of a new class."""

    classes: dict[str, int]
    """Known class -> number of labelled nodes predicted as this class, most frequent first."""

    probability: float
    """Mean probability of the predicted classes."""

    @property
    def mixed(self) -> bool:
        """Whether the labelled nodes look like a mixture of known classes."""
        counts = list(self.classes.values())
        return self.probability > MIXED_PROBABILITY and max(counts) < MIXED_SHARE * sum(counts)


@dataclass(frozen=True, kw_only=True)
class Preview(Tabular):
    """Differences between two versions in predictions and held-out accuracy."""

    num_compared: int = 0
    """Number of compared nodes: all nodes, or a sample."""

    nodes: int
    """Approximate number of nodes that are in both versions."""

    flips: dict[tuple[str, str], int] = field(default_factory=dict)
    """(class before, class after) -> number of nodes whose prediction changes, most frequent first.
    A prediction of a class that was only renamed or merged does not count as changed."""

    examples: tuple[ChangedNode, ...] = ()
    """Examples of unlabelled nodes whose prediction changes, highest confidence first."""

    inside: dict[str, int] = field(default_factory=dict)
    """Ancestor in the class tree -> number of nodes whose prediction changes from one class of its
    branch to another, most first. Each node counts once, at the lowest such ancestor."""

    before: CorrectCounts
    """Correct predictions before the change, for held-out nodes whose class is in both versions."""

    after: CorrectCounts
    """Correct predictions after the change, for the same held-out nodes."""

    new: CorrectCounts = field(default_factory=lambda: CorrectCounts({}, {}))
    """Result of the split-half check: number of checked and recognised labels of each new class."""

    prior: dict[str, PriorPredictions] = field(default_factory=dict)
    """New class -> predictions of the earlier version for the labelled nodes of this class."""

    parts: dict[tuple[str, str], int] = field(default_factory=dict)
    """(class that was split, its part) -> predictions that moved there; not in ``flips``."""

    changed: dict[str, ChangedClass] = field(default_factory=dict)
    """Class name -> prediction counts, for classes that are new or whose labels change."""

    classes: int
    """Number of classes after the change."""

    similar: dict[str, str] = field(default_factory=dict)
    """New class name -> other name that differs from it by one letter."""

    @property
    def flipped(self) -> int:
        """Number of compared nodes whose prediction changes."""
        return sum(self.flips.values())

    def to_arrow(self) -> pa.Table:
        """Return a table of changed predictions; its columns are before, after and nodes."""
        before, after = ([pair[side] for pair in self.flips] for side in (0, 1))
        return pa.table({"before": before, "after": after, "nodes": list(self.flips.values())})

    @property
    def forgetting(self) -> float | None:
        """Drop of held-out accuracy; None without held-out nodes. Negative if it increases."""
        if self.before.accuracy is None or self.after.accuracy is None:
            return None
        return self.before.accuracy - self.after.accuracy

    @property
    def noise(self) -> float | None:
        """Largest drop of held-out accuracy that is noise: 1.96 standard errors or 1 node."""
        accuracy, nodes = self.before.accuracy, self.before.nodes
        return None if accuracy is None else _noise(accuracy, nodes, NORMAL)

    def warnings(self) -> list[str]:
        """Return warnings to check before promotion; they do not block the change."""
        unlike = [
            f"Split-half check of {name!r}: 0 of {self.new.totals[name]} examples recognised; the "
            f"version before predicts them as {', '.join(self.prior[name].classes)}. Check that "
            "they belong to one class, and that it does not exist under another name."
            for name, right in self.new.right.items()
            if not right and not self.prior[name].mixed
        ]
        similar = [
            f"The new name {name!r} differs from {other!r} by one letter: check the spelling."
            for name, other in self.similar.items()
        ]
        return similar + class_warnings(self.changed, self.classes, self.num_compared) + unlike

    def objections(self) -> list[str]:
        """Return reasons against the change, such as drops of held-out accuracy above noise."""
        reasons = []
        old, new, noise = self.before.accuracy, self.after.accuracy, self.noise
        if old is not None and new is not None and noise is not None and old - new > noise:
            reasons.append(
                f"Held-out accuracy would drop from {100 * old:.1f} % to {100 * new:.1f} % "
                f"({self.before.nodes:,} nodes; ±{100 * noise:.1f} points is within noise)."
            )
        for name, count in self.before.totals.items():
            recall = self.before.recall(name)
            if recall - self.after.recall(name) > _noise(recall, count, SEVERAL):
                reasons.append(
                    f"Held-out accuracy of class {name!r} would drop from "
                    f"{self.before.right[name]} to {self.after.right[name]} of {count} nodes."
                )
        mixed = [
            name for name, right in self.new.right.items() if not right and self.prior[name].mixed
        ]
        return reasons + [
            f"Split-half check of {name!r}: 0 of {self.new.totals[name]} examples recognised, and "
            f"they are predicted as several known classes "
            f"({', '.join(self.prior[name].classes)}). Check that they belong to one class."
            for name in mixed
        ]


def compare(before: State, after: State, succession: ClassSuccession | None = None) -> Preview:
    """Compare the predictions of two versions for nodes that are in both graphs.

    Args:
        after: Later version; it may have other nodes.
        succession: Renamed, merged and split classes; None to derive them from the labels.
    """
    names = succession or ClassSuccession.between(before.labels, after.labels)
    graph = before.graph
    rows = graph.sampled(SAMPLE, graph.rows[:0])
    is_sample = rows.size < graph.targets.size
    if after.graph is not graph:
        rows = rows[after.graph.node_keys.find(graph.key_array_of(rows)) >= 0]
    keys = graph.keys_of(rows)
    old = before.predict(rows).classes
    predictions = after.predict(after.graph.rows_of(keys))
    new, confidence = predictions.classes, predictions.confidence
    pairs = Counter(zip(old.tolist(), new.tolist(), strict=True))
    flips = {pair: count for pair, count in pairs.most_common() if not names.continues(*pair)}
    changed_places = [place for place in range(len(keys)) if (old[place], new[place]) in flips]
    labelled = after.labels.owners()
    unlabelled = [place for place in changed_places if keys[place] not in labelled]
    most_confident = sorted(unlabelled, key=lambda place: -confidence[place])[:EXAMPLES]
    new_nodes = _new_classes(before, after.labels)
    right_before, right_after = held_out_accuracy(before, after, names)
    return Preview(
        num_compared=len(keys),
        nodes=graph.targets.size if is_sample else len(keys),
        flips=flips,
        inside=_inside(flips, before.labels, after.labels),
        examples=tuple(
            ChangedNode(keys[place], old[place], new[place], float(confidence[place]))
            for place in most_confident
        ),
        before=right_before,
        after=right_after,
        new=split_half_check(before, new_nodes),
        prior={name: _prior_predictions(before, nodes) for name, nodes in new_nodes.items()},
        parts={
            pair: count
            for pair, count in pairs.most_common()
            if names.is_split(pair[0]) and names.continues(*pair)
        },
        changed=changed_classes(before.labels, after.labels, names, pairs),
        classes=len(after.labels),
        similar=similar_names(after.labels.names - before.labels.names, after.labels.names),
    )


def compare_with_record(measures: Mapping[str, Any], after: State) -> Preview:
    """Compare held-out accuracy with the recorded accuracy of a version that cannot be loaded.

    Args:
        measures: Recorded measures of the version that cannot be loaded.
        after: Version to compare, with the same graph and labels.
    """
    # No accuracy is recorded for a version that undid an older change and replayed later changes.
    record = measures.get("after") or {"asked": {}, "right": {}}
    # If the number of held-out nodes of a class is unchanged, they are the same nodes.
    nodes = {
        name: keys
        for name, keys in after.labels.held_out.items()
        if record["asked"].get(name) == len(keys)
    }
    before = CorrectCounts(
        *({name: record[what][name] for name in nodes} for what in ("asked", "right"))
    )
    return Preview(
        nodes=after.graph.targets.size,
        before=before,
        after=count_correct(after, nodes),
        classes=len(after.labels),
    )


def _inside(
    flips: Mapping[tuple[str, str], int], before: StoreLabels, after: StoreLabels
) -> dict[str, int]:
    """Return the lowest name above both classes of each flip, with the number of its nodes."""
    counts = Counter[str]()
    for (old, new), count in flips.items():
        # A class that was removed keeps the place that it had; names of its groups may be older.
        tree = before.tree if old not in after and new in before else after.tree
        path = tree.path(old) if old in after else before.tree.path(old)
        common = next((name for name in tree.path(new) if name in path), None)
        if common is not None:
            counts[common] += count
    return dict(counts.most_common())


def _new_classes(before: State, after: StoreLabels) -> dict[str, tuple[Key, ...]]:
    """Return classes whose training nodes had no label before, unlike renamed or split classes.

    Only nodes of the earlier graph are listed: the model before can predict no others.
    """
    owned, find = before.labels.owners(), before.graph.node_keys.find
    new = {
        name: tuple(key for key, row in zip(keys, find(keys), strict=True) if row >= 0)
        for name, keys in after.training.items()
        if name not in before.labels and not any(key in owned for key in keys)
    }
    return {name: keys for name, keys in new.items() if keys}


def _prior_predictions(before: State, nodes: tuple[Key, ...]) -> PriorPredictions:
    predictions = before.predict(before.graph.rows_of(nodes))
    classes = Counter(predictions.classes.tolist()).most_common()
    return PriorPredictions(dict(classes), float(predictions.probability.mean()))


def _noise(share: float, nodes: int, errors: float) -> float:
    # As in the Agresti-Coull interval, add four nodes, of which two are correct. Otherwise, an
    # accuracy of 100 % would have no noise.
    likely = (share * nodes + 2.0) / (nodes + 4.0)
    return max(errors * sqrt(likely * (1.0 - likely) / nodes), 1.0 / nodes)
