"""Cache of what is derived from the visible part of a graph."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nodegraft.base.memo import Memo
from nodegraft.graph.disk.blocks.operator_folder import OperatorFolder
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.edges.operator import Neighbourhood
from nodegraft.graph.edges.relation import merged
from nodegraft.graph.growth.growing import Growth, Lineage
from nodegraft.graph.growth.grown import GrownAdjacency, again_joined, joined
from nodegraft.graph.growth.stacked import in_one_piece, some_rows
from nodegraft.graph.keys import hash_order
from nodegraft.graph.propagation.diffusion import Diffusion
from nodegraft.graph.propagation.grown_diffusion import GrownDiffusion
from nodegraft.graph.propagation.propagation import PropagatedFeatures
from nodegraft.graph.stores import ArrayCache, GraphStore


class ViewCache:
    """Edges, propagated features, heat and samples of one view, each computed once.

    A view has one such object and drops it as a whole. Parameters are those of
    :class:`~nodegraft.graph.view.GraphView`.

    Args:
        store: The whole graph.
        rows: Visible rows, ascending; None for all.
        full_degrees: Whether normalisation counts hidden neighbours.
        weights: Weight of each edge type; None merges all types.
    """

    def __init__(
        self,
        store: GraphStore,
        rows: IntArray | None,
        full_degrees: bool,
        weights: tuple[float, ...] | None,
    ) -> None:
        self._store, self._rows, self._full_degrees = store, rows, full_degrees
        self._weights = weights
        self._edges = Memo[Adjacency]()
        self._propagated = Memo[PropagatedFeatures]()
        self._diffusion = Memo[Diffusion | GrownDiffusion](most=1)
        self._samples = Memo[IntArray]()
        self.full_batch = Memo[Neighbourhood]()
        """The neighbourhood of all visible nodes."""
        self.lineage = Lineage[ViewCache]()
        """The caches of graphs that this one grew from."""

    @property
    def adjacency(self) -> Adjacency:
        """Edges between visible nodes."""
        return self._edges.get("visible", self._visible_edges)

    @property
    def spreading(self) -> Adjacency:
        """Edges that features are propagated along: those between visible nodes."""
        return self.adjacency

    def _visible_edges(self) -> Adjacency:
        if self._weights is None:
            edges = self._store.merged_edges()
        else:
            edges = joined(self._kinds(self._store.relations), self._weights)
        if self._full_degrees:
            edges = edges.counting_all()
        return self.among_visible(edges)

    def among_visible(self, edges: Adjacency) -> Adjacency:
        """Return the edges between visible nodes."""
        return edges if self._rows is None else edges.induced(self._rows)

    @property
    def directed_edges(self) -> Adjacency:
        """Edges of types with a direction; of all types where none has one."""
        return self._edges.get(
            "directed", lambda: self.among_visible(merged(self._kinds(self._directed_types())))
        )

    def _directed_types(self) -> Sequence[str]:
        names = self._store.relations
        return [name for name in names if self._store.adjacency(name).is_directed] or names

    def _kinds(self, names: Sequence[str]) -> list[Adjacency]:
        return [self._store.adjacency(name) for name in names]

    @property
    def array_cache(self) -> ArrayCache:
        """Cache of arrays that outlives the process; a part of a graph has none."""
        if self._rows is not None or self._full_degrees:
            return ArrayCache()
        return self._store.array_cache.under(list(self._weights or ()))

    @property
    def _base_arrays(self) -> ArrayCache:
        """Cache of the graph that this one grew from."""
        return self._store.array_cache.base.under(list(self._weights or ()))

    def kept_layers(self, folder: Path | None = None) -> OperatorFolder | None:
        """Return where whole products are stored on disk; None for a part of a graph, or no folder.

        Args:
            folder: Where; None for the folder of a graph on disk.
        """
        place = folder or self._store.layers_folder
        if place is None or self._rows is not None or self._full_degrees:
            return None
        features = in_one_piece(self._store.feature_matrix)
        return OperatorFolder.of(place, self._store.fingerprint, self._weights, features)

    def propagated(self, hops: int) -> PropagatedFeatures:
        """Return X, SX, S²X … by row."""
        return self._propagated.get(hops, lambda: self._propagate(hops))

    def _propagate(self, hops: int) -> PropagatedFeatures:
        # Layers return copies, or rows that cannot be written into: the graph needs no copy.
        features = self._store.feature_matrix
        if self._rows is not None:
            features = some_rows(features, self._rows)
        return PropagatedFeatures(self.adjacency, features, hops, self.kept_layers())

    def heat(self, times: Sequence[float]) -> Diffusion | GrownDiffusion:
        """Return heat diffusion on the visible edges.

        Args:
            times: Diffusion times, above 0.
        """
        key = tuple(times)
        return self._diffusion.get(key, lambda: self._new_heat(key))

    def _new_heat(
        self, times: Sequence[float], before: Diffusion | None = None
    ) -> Diffusion | GrownDiffusion:
        """Return heat on all edges or, after a small growth, on the edges before it, for which the
        cached heat ``before`` is reused."""
        edges = self.adjacency
        if not isinstance(edges, GrownAdjacency) or not edges.is_small_growth:
            return Diffusion(edges, times, self.array_cache)
        if before is None or before.adjacency is not edges.base:
            before = Diffusion(edges.base, times, self._base_arrays)
        return GrownDiffusion(before, edges)

    def smallest_hashes(self, count: int) -> IntArray:
        """Return the visible rows whose keys have the smallest hashes, in the order of hashes.

        Args:
            count: At least how many rows, if there are so many.
        """
        keys, rows = self._store.keys, self._rows
        if rows is not None:
            return self._samples.get("all", lambda: rows[hash_order(keys.array_at(rows))])[:count]
        # Similar sizes share an entry.
        size = 1 << max(count, 1).bit_length()
        return self._samples.get(size, lambda: keys.smallest_hashes(size))[:count]

    def refresh(self, most: int) -> int:
        """Recompute stale rows of propagated features; return their number."""
        made = 0
        for layers in self._propagated.values():
            made += layers.refresh(most - made)
        return made

    def take_over(self, before: "ViewCache", touched: IntArray | None) -> None:
        """Take over what is still valid.

        Args:
            before: The cache of a smaller graph, or of the same graph in another store.
            touched: Rows whose edges of any type have changed, new rows among them; None where
                the graphs are equal.
        """
        edges = before._edges.peek("visible")
        if edges is None:
            return
        if touched is None:
            growth = Growth(edges, np.zeros(0, dtype=np.int64))
            self._edges, self._propagated = before._edges, before._propagated
            self._samples = before._samples
            self._diffusion = before._diffusion.followed(
                lambda heat: heat.with_array_cache(
                    self.array_cache if heat.before is heat else self._base_arrays
                )
            )
        else:
            growth = self._grow(before, edges, touched)
        self.lineage.grown_from(before, before.lineage, growth)

    def _grow(self, before: "ViewCache", edges: Adjacency, touched: IntArray) -> Growth:
        now = again_joined(edges, self._kinds(self._store.relations), self._weights, touched)
        self._edges.put("visible", now)
        leading = before._edges.peek("directed")
        if leading is not None:
            some = self._kinds(self._directed_types())
            self._edges.put("directed", again_joined(leading, some, None, touched))
        growth = Growth(now, touched)
        features = self._store.feature_matrix
        self._propagated = before._propagated.followed(
            lambda layers: layers.grown(now, features, growth.within)
        )
        self._diffusion = before._diffusion.followed(
            lambda heat: self._new_heat(heat.before.times, heat.before)
        )
        return growth
