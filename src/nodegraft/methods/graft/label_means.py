"""Mean rows of sets of labels, computed once for each set."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.propagation.spread import SpreadFeatures, SpreadRows

Floats = NDArray[np.float64]

BATCH_NUMBERS = 2**23
"""Maximum size of a batch of dense rows."""

CACHED_NUMBERS = 2**26
"""Maximum size of the cache of means: half a gigabyte."""


class LabelMeans:
    """Mean rows of sets of labels on one graph, layer by layer.

    Args:
        features: Rows of all nodes.
    """

    def __init__(self, features: SpreadFeatures) -> None:
        self._features = features
        self._known: dict[bytes, tuple[Floats, ...]] = {}
        self._latest: tuple[IntArray, SpreadRows | None] = (features.view.rows[:0], None)

    def grown(self, features: SpreadFeatures, stale: NDArray[np.bool_]) -> "LabelMeans":
        """Return the means for a graph that has grown, reusing those whose rows did not change."""
        child = LabelMeans(features)
        child._known = {
            rows: means
            for rows, means in self._known.items()
            if not stale[np.frombuffer(rows, dtype=np.int64)].any()
        }
        return child

    def of(self, sets: Sequence[IntArray]) -> tuple[Floats, ...]:
        """Return for each layer the mean row of each set.

        Args:
            sets: Row numbers, ascending.
        """
        known = self._known
        new = {rows.tobytes(): rows for rows in sets if rows.tobytes() not in known}
        known = {**known, **self._computed(new)}
        found = [known[rows.tobytes()] for rows in sets]
        layers = self._features.all_layers
        if len(known) * len(layers) * self._features.columns.size > CACHED_NUMBERS:
            known = {rows.tobytes(): means for rows, means in zip(sets, found, strict=True)}
        # One assignment: of several threads the last one's result stays.
        self._known = known
        return tuple(np.stack([means[layer] for means in found]) for layer in layers)

    def _computed(self, sets: dict[bytes, IntArray]) -> dict[bytes, tuple[Floats, ...]]:
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
        # Copies, so that dropping one mean frees its memory.
        return {
            name: tuple(layer[column].copy() for layer in means) for column, name in enumerate(sets)
        }

    def _dense_means(self, sets: dict[bytes, IntArray]) -> dict[bytes, tuple[Floats, ...]]:
        """Compute means set by set: the rounding of a matrix product depends on its other columns,
        and the cache of scores goes by hashes of means."""
        found: dict[bytes, tuple[Floats, ...]] = {}
        layers = self._features.all_layers
        most = BATCH_NUMBERS // max(len(layers) * self._features.columns.size, 1)
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
        """Return rows of nodes, as a part of the last batch if they are all in it.

        Args:
            rows: Row numbers, ascending.
        """
        last, near = self._latest
        places = np.minimum(np.searchsorted(last, rows), max(last.size - 1, 0))
        if near is None or not np.array_equal(last[places], rows):
            return self._features.rows(rows)
        return near.part(places)


def _batches(sets: dict[bytes, IntArray], most: int) -> Iterator[list[bytes]]:
    """Yield the names of sets that together have about ``most`` members."""
    members = np.cumsum([rows.size for rows in sets.values()])
    for _, some in groupby(zip(sets, members // max(most, 1), strict=True), key=itemgetter(1)):
        yield [name for name, _ in some]
