"""What a change would do, before it is done."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import pyarrow as pa

from nodegraft.analysis.held_out_accuracy import held_out_accuracy
from nodegraft.analysis.labels.changed_classes import ChangedClass, changed_classes, class_warnings
from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.labels.succession import ClassSuccession
from nodegraft.analysis.measures import RightAnswers, recognised_by_halves, right_answers
from nodegraft.analysis.snapshot import State
from nodegraft.base.tabular import Tabular
from nodegraft.graph.keys import Key

SAMPLE = 20_000
"""So many nodes, drawn by the hash of their keys, say how many answers change."""

EXAMPLES = 10
"""So many nodes whose answer changes are shown."""

NORMAL, SEVERAL = 1.96, 3.0
"""How many standard errors are noise: for one number, and for the worst of many classes."""

SURE, ALIKE = 0.5, 0.8
"""A new class none of whose labels is recognised by the others is taken for a mixture of known ones
where the version before was surer than this, on average, of what they are, and took no larger share
of them for the same class."""


@dataclass(frozen=True)
class Flip:
    """A node that is answered differently."""

    node: Key
    """Its key."""

    before: str
    """What it was answered to be."""

    after: str
    """What it would be answered to be."""

    confidence: float
    """How sure the new answer is: of the class, and of the node being of a known one."""


@dataclass(frozen=True)
class TakenFor:
    """What a version that does not know a class takes its labels for."""

    classes: dict[str, int]
    """Known class -> how many labels, the most frequent first."""

    sure: float
    """How sure it is of that, on average."""

    @property
    def mixed(self) -> bool:
        """Whether it is sure of several classes, none of which has nearly all labels."""
        counts = list(self.classes.values())
        return self.sure > SURE and max(counts) < ALIKE * sum(counts)


@dataclass(frozen=True)
class Preview(Tabular):
    """What changes between two versions."""

    asked: int
    """How many nodes were asked about: all, or a fair sample."""

    nodes: int
    """How many nodes there are that both versions have, about."""

    flips: dict[tuple[str, str], int]
    """(before, after) -> how many of the nodes asked about; the most frequent first. A prediction
    that follows its class to another name is no change."""

    examples: tuple[Flip, ...]
    """Some of them that have no label, the surest first."""

    before: RightAnswers
    """How well held-out nodes of classes that both versions know are answered."""

    after: RightAnswers
    """The same after the change."""

    new: RightAnswers
    """How many labels of each class that is new are recognised by the other half of them."""

    taken_for: dict[str, TakenFor]
    """What the version before took the labels of each of these classes for."""

    parts: dict[tuple[str, str], int]
    """(class that was split, its part) -> how many predictions went from one to the other; they
    are not among ``flips``."""

    changed: dict[str, ChangedClass]
    """Classes that are new or have other labels."""

    classes: int
    """How many classes there are after the change."""

    @property
    def flipped(self) -> int:
        """How many of the nodes asked about are answered differently."""
        return sum(self.flips.values())

    def to_arrow(self) -> pa.Table:
        """A table of what changes: before, after, nodes."""
        before, after = ([pair[side] for pair in self.flips] for side in (0, 1))
        return pa.table({"before": before, "after": after, "nodes": list(self.flips.values())})

    @property
    def forgetting(self) -> float | None:
        """By how much the share of right answers about held-out nodes falls."""
        if self.before.accuracy is None or self.after.accuracy is None:
            return None
        return self.before.accuracy - self.after.accuracy

    @property
    def noise(self) -> float | None:
        """A fall that chance alone gives once in twenty times, and one node at least."""
        accuracy, nodes = self.before.accuracy, self.before.nodes
        return None if accuracy is None else _noise(accuracy, nodes, NORMAL)

    def warnings(self) -> list[str]:
        """Return what to look at before the change is promoted, a sentence each; none blocks."""
        return class_warnings(self.changed, self.classes, self.asked)

    def objections(self) -> list[str]:
        """What speaks against the change, a sentence each; none if it stays within the noise."""
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
            name
            for name, right in self.new.right.items()
            if not right and self.taken_for[name].mixed
        ]
        return found + [
            f"Split-half check of {name!r}: 0 of {self.new.asked[name]} examples recognised, and "
            f"they are predicted as several known classes "
            f"({', '.join(self.taken_for[name].classes)}). Check that they belong to one class."
            for name in mixed
        ]


def compare(before: State, after: State, succession: ClassSuccession | None = None) -> Preview:
    """Compare the predictions of two versions for nodes that both have.

    Args:
        before: One version.
        after: The other; it may have other nodes.
        succession: Which classes were renamed, merged or split; None to work it out from labels.
    """
    names = succession or ClassSuccession.between(before.labels, after.labels)
    graph = before.graph
    rows = graph.sampled(SAMPLE, graph.rows[:0])
    is_sample = rows.size < graph.num_nodes
    if after.graph is not graph:
        rows = rows[after.graph.node_keys.find(graph.key_array_of(rows)) >= 0]
    keys = graph.keys_of(rows)
    old = before.answers(rows).classes
    found = after.answers(after.graph.rows_of(keys))
    new, sure = found.classes, found.confidence
    pairs = Counter(zip(old.tolist(), new.tolist(), strict=True))
    flips = {pair: count for pair, count in pairs.most_common() if not names.continues(*pair)}
    moved = [place for place in range(len(keys)) if (old[place], new[place]) in flips]
    labelled = after.labels.owners()
    telling = [place for place in moved if keys[place] not in labelled]
    surest = sorted(telling, key=lambda place: -sure[place])[:EXAMPLES]
    fresh = _new_classes(before.labels, after.labels)
    right_before, right_after = held_out_accuracy(before, after, names)
    return Preview(
        asked=len(keys),
        nodes=graph.num_nodes if is_sample else len(keys),
        flips=flips,
        examples=tuple(
            Flip(keys[place], old[place], new[place], float(sure[place])) for place in surest
        ),
        before=right_before,
        after=right_after,
        new=recognised_by_halves(before, fresh),
        taken_for={name: _taken_for(before, nodes) for name, nodes in fresh.items()},
        parts={
            pair: count
            for pair, count in pairs.most_common()
            if names.is_split(pair[0]) and names.continues(*pair)
        },
        changed=changed_classes(before.labels, after.labels, names, pairs),
        classes=len(after.labels),
    )


def recalled(measures: Mapping[str, Any], after: State) -> Preview:
    """How well a version answers beside what is known of one that cannot be asked any more.

    Args:
        measures: What was written down about that one.
        after: The version, with the same graph and labels.
    """
    # Nothing is, where an older change was undone beneath others.
    told = measures.get("after") or {"asked": {}, "right": {}}
    # As many of a class as are held out: the very same nodes.
    nodes = {
        name: keys
        for name, keys in after.labels.held_out.items()
        if told["asked"].get(name) == len(keys)
    }
    before = RightAnswers(
        *({name: told[what][name] for name in nodes} for what in ("asked", "right"))
    )
    return Preview(
        asked=0,
        nodes=after.graph.num_nodes,
        flips={},
        examples=(),
        before=before,
        after=right_answers(after, nodes),
        new=RightAnswers({}, {}),
        taken_for={},
        parts={},
        changed={},
        classes=len(after.labels),
    )


def _new_classes(before: StoreLabels, after: StoreLabels) -> dict[str, tuple[Key, ...]]:
    """Classes taught by nodes without a label before: not those renamed, merged or split."""
    owned = before.owners()
    return {
        name: keys
        for name, keys in after.taught.items()
        if name not in before and not any(key in owned for key in keys)
    }


def _taken_for(before: State, nodes: tuple[Key, ...]) -> TakenFor:
    found = before.answers(before.graph.rows_of(nodes))
    classes = Counter(found.classes.tolist()).most_common()
    return TakenFor(dict(classes), float(found.probability.mean()))


def _noise(share: float, nodes: int, errors: float) -> float:
    # As if four more had been asked about, half of them answered rightly: where all are, chance
    # may still take some.
    likely = (share * nodes + 2.0) / (nodes + 4.0)
    return max(errors * sqrt(likely * (1.0 - likely) / nodes), 1.0 / nodes)
