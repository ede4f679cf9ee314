"""What a graph says of nodes and classes: the signals that graft weighs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.graph.spread import SpreadFeatures, SpreadRows
from nodegraft.graph.view import GraphView
from nodegraft.nn.linear.loglinear import Signals
from nodegraft.nn.mixture import responsibilities
from nodegraft.nn.naive_bayes import word_log_ratios

Floats = NDArray[np.float64]

FLOOR = 0.1
"""Added to a node's share of a class's walks: not being reached is a hint, not a proof."""

RESTARTS = (0.3, 0.15, 0.05, 0.02)
"""The chances that a walk ends at each step: smaller ones look further away."""

PLENTY = 100
"""Labels from which on a class is hardly scored as a new one any more."""

FEW = 10
"""Classes with fewer labels have their means refined by unlabelled nodes."""

KEPT_NUMBERS = 2**26
"""Means of sets of labels are kept for another time, up to half a gigabyte."""

SIMILARITY, WALKS, WORDS, SCARCE = 10.0, 0.6, 0.2, 0.4
"""What cosines, walks, words and the term for few labels weigh without practice."""

POOL, NEAR = 4096, 100
"""How many unlabelled nodes refine means: a fair sample, and near each class with few labels."""


@dataclass(frozen=True)
class Taught:
    """Some classes: how many labels they have, which, and where their rows lie on average."""

    counts: NDArray[np.int64]
    """How many labels each class has."""

    labels: tuple[IntArray, ...]
    """The rows of those that are looked at."""

    means: tuple[Floats, ...]
    """For each hop the mean row of each class's labels."""

    refined: tuple[Floats, ...] | None = None
    """The same, with the unlabelled nodes that seem to be of it."""

    gained: Floats | None = None
    """How many unlabelled nodes went into each refined mean, in all their parts."""

    @property
    def scarcity(self) -> Floats:
        """How few labels each class has: larger for fewer."""
        return np.log1p(PLENTY / self.counts)

    @property
    def few(self) -> NDArray[np.int64]:
        """The classes whose means are worth refining."""
        return np.flatnonzero(self.counts < FEW)

    def take(self, columns: NDArray[np.int64]) -> "Taught":
        """Some of the classes.

        Args:
            columns: Their places.
        """
        return Taught(
            self.counts[columns],
            tuple(self.labels[column] for column in columns),
            tuple(one[columns] for one in self.means),
            None if self.refined is None else tuple(one[columns] for one in self.refined),
            None if self.gained is None else self.gained[columns],
        )

    def __or__(self, others: "Taught") -> "Taught":
        """With more classes behind, none of them refined."""
        return Taught(
            np.concatenate((self.counts, others.counts)),
            self.labels + others.labels,
            tuple(map(np.vstack, zip(self.means, others.means, strict=True))),
        )


class Evidence:
    """The signals of one view of a graph.

    Args:
        view: What may be seen, kinds of edges weighed.
        columns: The weight of each column of the features.
        background: For each hop the mean row of all nodes; no rows for features without words.
        hops: How far features are spread.
        restarts: How often walks end; none for no walks.
        few_labels: Whether classes with few labels are made up for.
    """

    def __init__(
        self,
        view: GraphView,
        columns: NDArray[np.float32],
        background: Floats,
        hops: int,
        restarts: Sequence[float],
        few_labels: bool = True,
    ) -> None:
        self.view = view
        self.features = SpreadFeatures(view, hops, columns)
        self._background = background
        self.restarts = restarts
        self._few_labels = few_labels
        self._means: dict[bytes, tuple[Floats, ...]] = {}

    @property
    def hops(self) -> range:
        """The hops, from none on."""
        return range(self.features.hops + 1)

    @property
    def worded(self) -> list[int]:
        """The hops whose words are compared with the background."""
        return sorted({0, self.features.hops}) if len(self._background) else []

    def taught(self, labels: Sequence[IntArray], counts: NDArray[np.int64]) -> Taught:
        """Classes by their labels; means met before are looked up.

        Args:
            labels: The rows of each class's labels.
            counts: How many labels each class has, those beyond ``labels`` too.
        """
        starts = tuple(np.sort(rows) for rows in labels)
        known = self._means
        new = {rows.tobytes(): rows for rows in starts if rows.tobytes() not in known}
        known = {**known, **self._mean_rows(new)}
        found = [known[rows.tobytes()] for rows in starts]
        if len(known) * len(self.hops) * self.features.columns.size > KEPT_NUMBERS:
            known = {rows.tobytes(): one for rows, one in zip(starts, found, strict=True)}
        # One reference is put in place: of several threads the last one's stays.
        self._means = known
        means = tuple(np.stack([one[hop] for one in found]) for hop in self.hops)
        return Taught(counts, starts, means)

    def _mean_rows(self, sets: dict[bytes, IntArray]) -> dict[bytes, tuple[Floats, ...]]:
        if not sets:
            return {}
        rows = np.unique(np.concatenate(list(sets.values())))
        shares = np.zeros((rows.size, len(sets)))
        for column, some in enumerate(sets.values()):
            shares[np.searchsorted(rows, some), column] = 1.0 / some.size
        near = self.features.rows(rows)
        means = [near.sums(hop, shares) for hop in self.hops]
        return {name: tuple(one[column] for one in means) for column, name in enumerate(sets)}

    def similarities(
        self, near: SpreadRows, means: Sequence[Floats], centre: Sequence[Floats]
    ) -> tuple[list[Floats], list[Floats]]:
        r"""For each hop :math:`\cos(z - \mu, q_c - \mu)`; and what words say.

        Args:
            near: The nodes.
            means: For each hop a row for each class.
            centre: For each hop one row.
        """
        cosines, ratios = [], []
        for hop in self.hops:
            away = means[hop] - centre[hop]
            away /= np.linalg.norm(away, axis=1, keepdims=True) + 1e-12
            directions = [away, centre[hop][None]]
            if hop in self.worded:
                directions.append(word_log_ratios(means[hop], self._background[hop]))
            products = near.times(hop, np.vstack(directions))
            along, middle = products[:, : len(away)], products[:, len(away)]
            squares = near.present[hop] - 2.0 * middle + float(centre[hop] @ centre[hop])
            lengths = np.sqrt(np.maximum(squares, 1e-12))
            cosines.append((along - away @ centre[hop]) / lengths[:, None])
            if hop in self.worded:
                ratios.append(products[:, len(away) + 1 :])
        return cosines, ratios

    def signals(
        self, near: SpreadRows, rows: IntArray, taught: Taught, centre: Sequence[Floats]
    ) -> Signals:
        """All signals of some nodes, signal x node x class; see :meth:`names`.

        Args:
            near: The nodes.
            rows: The same by row number.
            taught: The classes.
            centre: For each hop one row.
        """
        cosines, ratios = self.similarities(near, taught.means, centre)
        walks: list[Floats] = []
        if self.restarts:
            shares = self.view.diffused(taught.labels, rows, self.restarts)
            walks = list(np.log(shares + FLOOR))
        scarcity = np.broadcast_to(self._few_labels * taught.scarcity, cosines[0].shape)
        found = np.stack([*cosines, *walks, *cosines, *ratios, scarcity])
        return self.refreshed(found, near, taught, centre)

    def refreshed(
        self, signals: Signals, near: SpreadRows, taught: Taught, centre: Sequence[Floats]
    ) -> Signals:
        """The same, after the refined means of some classes have changed.

        Args:
            signals: As they were.
            near: The nodes.
            taught: The classes.
            centre: For each hop one row.
        """
        few = taught.few
        if not few.size or taught.refined is None:
            return signals
        cosines, ratios = self.similarities(near, [one[few] for one in taught.refined], centre)
        changed = np.stack([*cosines, *ratios])
        signals = signals.copy()
        signals[-1 - len(changed) : -1, :, few] = changed
        return signals

    def names(self) -> list[str]:
        """What each signal is, for a person to read."""
        away = ["own features", *(f"features {hop} away" for hop in self.hops[1:])]
        return [
            *away,
            *(f"walks, {100 * restart:g} % end a step" for restart in self.restarts),
            *(f"{name}, with unlabelled nodes" for name in away),
            *("own words" if hop == 0 else f"words {hop} away" for hop in self.worded),
            "few labels",
        ]

    def usual_weights(self) -> Floats:
        """Weights where there is nothing to practise on: about what four real graphs came to."""
        hops, walks, words = len(self.hops), len(self.restarts), len(self.worded)
        similar = [SIMILARITY / (2 * hops)] * hops
        return np.array(
            [*similar, *[WALKS / max(walks, 1)] * walks, *similar, *[WORDS] * words, SCARCE]
        )

    def pool(self, taught: Taught, without: IntArray) -> IntArray:
        """Unlabelled nodes that means are refined by: a fair sample, and near few labels.

        Args:
            taught: The classes.
            without: Rows that must not be taken; labels among them.
        """
        parts = [self.view.sampled(POOL, without)]
        if self.restarts:
            starts = [taught.labels[column] for column in taught.few]
            parts += self.view.nearest(starts, NEAR, self.restarts)
        return np.setdiff1d(np.concatenate(parts), without)

    def refined(self, taught: Taught, near: SpreadRows, scores: Floats) -> Taught:
        r""":math:`q_c = \frac{\sum_{labels} z + \sum_i r_{ic} z_i}{n_c + \sum_i r_{ic}}`, for
        classes with few labels.

        Args:
            taught: The classes.
            near: The unlabelled nodes.
            scores: Their scores.
        """
        few = taught.few
        shares = responsibilities(scores)[:, few]
        counts, added = taught.counts[few][:, None], shares.sum(axis=0)[:, None]
        refined = []
        for hop in self.hops:
            means = taught.means[hop].copy()
            means[few] = (counts * means[few] + near.sums(hop, shares)) / (counts + added)
            refined.append(means)
        gained = np.zeros(taught.counts.size)
        gained[few] = added[:, 0]
        return replace(taught, refined=tuple(refined), gained=gained)
