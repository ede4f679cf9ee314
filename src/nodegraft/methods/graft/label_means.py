"""Where labels lie on average: made once for each set of labels."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.propagation.spread import SpreadFeatures, SpreadRows

Floats = NDArray[np.float64]

HELD_NUMBERS = 2**23
"""Dense rows of labels are looked at in batches of so many numbers."""

KEPT_NUMBERS = 2**26
"""Means of sets of labels are kept for another time, up to half a gigabyte."""


class LabelMeans:
    """Mean rows of sets of labels on one graph, layer by layer.

    Args:
        features: The rows of all nodes.
    """

    def __init__(self, features: SpreadFeatures) -> None:
        self._features = features
        self._known: dict[bytes, tuple[Floats, ...]] = {}
        self._latest: tuple[IntArray, SpreadRows | None] = (features.view.rows[:0], None)

    def grown(self, features: SpreadFeatures, stale: NDArray[np.bool_]) -> "LabelMeans":
        """The same of a graph that has grown: means of labels whose rows are still the same.

        Args:
            features: The rows of all nodes now.
            stale: Of each row before, whether it has changed.
        """
        child = LabelMeans(features)
        child._known = {
            rows: means
            for rows, means in self._known.items()
            if not stale[np.frombuffer(rows, dtype=np.int64)].any()
        }
        return child

    def of(self, sets: Sequence[IntArray]) -> tuple[Floats, ...]:
        """For each layer a row for each set; those met before are looked up.

        Args:
            sets: Row numbers, ascending.
        """
        known = self._known
        new = {rows.tobytes(): rows for rows in sets if rows.tobytes() not in known}
        known = {**known, **self._made(new)}
        found = [known[rows.tobytes()] for rows in sets]
        layers = self._features.all_layers
        if len(known) * len(layers) * self._features.columns.size > KEPT_NUMBERS:
            known = {rows.tobytes(): one for rows, one in zip(sets, found, strict=True)}
        # One reference is put in place: of several threads the last one's stays.
        self._known = known
        return tuple(np.stack([one[layer] for one in found]) for layer in layers)

    def _made(self, sets: dict[bytes, IntArray]) -> dict[bytes, tuple[Floats, ...]]:
        if not sets:
            return {}
        if not self._features.view.has_sparse_features:
            return self._dense_means(sets)
        rows = np.unique(np.concatenate(list(sets.values())))
        shares = np.zeros((rows.size, len(sets)))
        for column, members in enumerate(sets.values()):
            shares[np.searchsorted(rows, members), column] = 1.0 / members.size
        near = self._features.rows(rows)
        means = [near.sums(layer, shares) for layer in self._features.all_layers]
        # Copies, so that forgetting one mean frees it.
        return {
            name: tuple(one[column].copy() for one in means) for column, name in enumerate(sets)
        }

    def _dense_means(self, sets: dict[bytes, IntArray]) -> dict[bytes, tuple[Floats, ...]]:
        """Set by set: a product of matrices rounds a column differently beside other columns, and
        the cache of scores goes by hashes of means."""
        found: dict[bytes, tuple[Floats, ...]] = {}
        layers = self._features.all_layers
        most = HELD_NUMBERS // max(len(layers) * self._features.columns.size, 1)
        for some in _batches(sets, most):
            rows = np.unique(np.concatenate([sets[name] for name in some]))
            near = self._features.rows(rows)
            for name in some:
                part = near.part(np.searchsorted(rows, sets[name]))
                even = np.full((sets[name].size, 1), 1.0 / sets[name].size)
                found[name] = tuple(part.sums(layer, even)[0].copy() for layer in layers)
            self._latest = rows, near
        return found

    def rows(self, rows: IntArray) -> SpreadRows:
        """Of some nodes; where they are among those whose means were made last, a part of these.

        Args:
            rows: Row numbers, ascending.
        """
        held, near = self._latest
        places = np.minimum(np.searchsorted(held, rows), max(held.size - 1, 0))
        if near is None or not np.array_equal(held[places], rows):
            return self._features.rows(rows)
        return near.part(places)


def _batches(sets: dict[bytes, IntArray], most: int) -> Iterator[list[bytes]]:
    """Sets one after the other, so many that together they have about so many members."""
    held = np.cumsum([rows.size for rows in sets.values()])
    for _, some in groupby(zip(sets, held // max(most, 1), strict=True), key=itemgetter(1)):
        yield [name for name, _ in some]
