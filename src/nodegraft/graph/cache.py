"""Cache of edges, propagated features and other data derived from the visible part of a graph."""

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
from nodegraft.graph.growth.grown import GrownAdjacency, combine, combine_again
from nodegraft.graph.growth.stacked import in_one_piece, some_rows
from nodegraft.graph.keys import hash_order
from nodegraft.graph.node_types import type_numbers
from nodegraft.graph.propagation.diffusion import Diffusion
from nodegraft.graph.propagation.grown_diffusion import GrownDiffusion
from nodegraft.graph.propagation.propagation import PropagatedFeatures
from nodegraft.graph.stores import ArrayCache, GraphStore


class ViewCache:
    """Cache of the edges, propagated features, heat diffusion and samples of a graph view.

    Each :class:`~nodegraft.graph.view.GraphView` has its own cache.

    Args:
        store: Store with the arrays of the whole graph.
        rows: Row numbers of the visible nodes, ascending; None for all nodes.
        full_degrees: Whether the degrees that normalise the adjacency include hidden neighbours.
        weights: Weight of each edge type; None to merge all types.
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
        """Cache of the network input for all visible nodes together."""
        self.lineage = Lineage[ViewCache]()
        """Caches of the smaller graphs from which this graph grew."""

    @property
    def adjacency(self) -> Adjacency:
        """Edges between visible nodes, with all edge types merged."""
        return self._edges.get("visible", self._visible_edges)

    @property
    def spreading(self) -> Adjacency:
        """Edges along which features are propagated: here the edges between visible nodes."""
        return self.adjacency

    def _visible_edges(self) -> Adjacency:
        if self._weights is None:
            edges = self._store.merged_edges()
        else:
            edges = combine(self._kinds(self._store.relations), self._weights)
        if self._full_degrees:
            edges = edges.counting_all()
        return self.among_visible(edges)

    def among_visible(self, edges: Adjacency) -> Adjacency:
        """Return only those edges whose two nodes are visible."""
        return edges if self._rows is None else edges.induced(self._rows)

    @property
    def directed_edges(self) -> Adjacency:
        """Visible edges of all directed edge types, merged.

        If no edge type is directed, these are the edges of all types.
        """
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
        """Persistent cache of derived arrays.

        It stores nothing if the view hides a part of the graph.
        """
        if self._rows is not None or self._full_degrees:
            return ArrayCache()
        return self._store.array_cache.under(list(self._weights or ()))

    @property
    def _base_arrays(self) -> ArrayCache:
        """Persistent array cache of the graph from which this graph grew."""
        return self._store.array_cache.base.under(list(self._weights or ()))

    def layer_folder(self, folder: Path | None = None) -> OperatorFolder | None:
        """Return the folder on disk for propagated features.

        Args:
            folder: Folder to use; None for the folder of the graph.

        Returns:
            The folder; None if the graph has no folder or if the view hides a part of the graph.
        """
        place = folder or self._store.layers_folder
        if place is None or self._rows is not None or self._full_degrees:
            return None
        features = in_one_piece(self._store.feature_matrix)
        return OperatorFolder.of(place, self._store.fingerprint, self._weights, features)

    def propagated(self, hops: int) -> PropagatedFeatures:
        """Return the propagated features X, SX, S²X …, up to S to the power of ``hops``."""
        return self._propagated.get(hops, lambda: self._propagate(hops))

    def _propagate(self, hops: int) -> PropagatedFeatures:
        # The features need no copy, because cached layers return copies or read-only rows.
        features = self._store.feature_matrix
        if self._rows is not None:
            features = some_rows(features, self._rows)
        return PropagatedFeatures(self.adjacency, features, hops, self.layer_folder())

    def heat(self, times: Sequence[float]) -> Diffusion | GrownDiffusion:
        """Return an object that computes heat diffusion on the visible edges."""
        key = tuple(times)
        return self._diffusion.get(key, lambda: self._new_heat(key))

    def _new_heat(
        self, times: Sequence[float], before: Diffusion | None = None
    ) -> Diffusion | GrownDiffusion:
        """Create the heat diffusion of this view.

        After a small growth of the graph, heat diffuses on the edges from before the growth, and
        the diffusion ``before`` is reused if it belongs to these edges.
        """
        edges = self.adjacency
        if not isinstance(edges, GrownAdjacency) or not edges.is_small_growth:
            return Diffusion(edges, times, self.array_cache)
        if before is None or before.adjacency is not edges.base:
            before = Diffusion(edges.base, times, self._base_arrays)
        return GrownDiffusion(before, edges)

    @property
    def node_types(self) -> tuple[str, ...]:
        """Names of the node types, the classified one first; empty if there is only one."""
        recipe = self._store.recipe
        return () if recipe is None else recipe.node_types

    @property
    def has_several_types(self) -> bool:
        """Whether there are node types besides the classified one."""
        return len(self.node_types) > 1

    @property
    def targets(self) -> IntArray:
        """Row numbers of the visible nodes that are classified, ascending."""
        rows = np.arange(len(self._store.keys)) if self._rows is None else self._rows
        if not self.has_several_types:
            return rows
        return self._samples.get("targets", lambda: np.delete(rows, self.other_places))

    @property
    def other_places(self) -> IntArray:
        """Positions, among the visible nodes, of those that are not classified, ascending."""
        return self._samples.get("others", self._find_others)

    def _find_others(self) -> IntArray:
        if not self.has_several_types:
            return np.zeros(0, dtype=np.int64)
        keys, rows = self._store.keys, self._rows
        visible = keys.values() if rows is None else keys.array_at(rows)
        return np.flatnonzero(type_numbers(visible, self.node_types))

    def smallest_hashes(self, count: int) -> IntArray:
        """Return a random sample of classified nodes: those whose keys have the smallest hashes.

        The rows are in the order of these hashes.
        """
        keys, rows = self._store.keys, self._rows
        if self.has_several_types:
            rows = self.targets
        if rows is not None:
            return self._samples.get("all", lambda: rows[hash_order(keys.array_at(rows))])[:count]
        # Round the sample size up to a power of two, so that similar counts share a cache entry.
        size = 1 << max(count, 1).bit_length()
        return self._samples.get(size, lambda: keys.smallest_hashes(size))[:count]

    def refresh(self, most: int) -> int:
        """Recompute outdated rows of propagated features, at most ``most``; return their number."""
        count = 0
        for layers in self._propagated.values():
            count += layers.refresh(most - count)
        return count

    def take_over(self, before: "ViewCache", touched: IntArray | None) -> None:
        """Reuse those data of another cache that are also valid for this graph.

        Args:
            before: Cache of the graph before it grew, or of an equal graph in another store.
            touched: Row numbers of new nodes and of nodes whose edges of any type have changed;
                None if the graphs are equal.
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
        now = combine_again(edges, self._kinds(self._store.relations), self._weights, touched)
        self._edges.put("visible", now)
        leading = before._edges.peek("directed")
        if leading is not None:
            some = self._kinds(self._directed_types())
            self._edges.put("directed", combine_again(leading, some, None, touched))
        growth = Growth(now, touched)
        features = self._store.feature_matrix
        self._propagated = before._propagated.followed(
            lambda layers: layers.grown(now, features, growth.within)
        )
        self._diffusion = before._diffusion.followed(
            lambda heat: self._new_heat(heat.before.times, heat.before)
        )
        return growth
