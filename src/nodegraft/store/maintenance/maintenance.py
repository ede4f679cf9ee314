"""Maintenance of a store: prune old versions, purge nodes."""

import shutil
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from nodegraft.analysis.version import now
from nodegraft.base.errors import ParameterError
from nodegraft.graph.keys import Key, key_array, several
from nodegraft.store.intent import Intent
from nodegraft.store.maintenance.pruning import ABANDONED, KEEP, Pruned, preview_prune, prune
from nodegraft.store.objects.derived_cache import clear_caches
from nodegraft.store.objects.place import CARDS
from nodegraft.store.parts import StoreParts

if TYPE_CHECKING:
    from nodegraft.store.maintenance.purging import Purged

__all__ = ["KEEP", "Maintenance"]


class Maintenance:
    """Maintenance of a store; :class:`nodegraft.Store` describes the methods.

    Args:
        parts: Versions, files and settings of the store.
    """

    def __init__(self, parts: StoreParts) -> None:
        self._parts = parts

    def prune(self, keep: int, dry_run: bool, intent: Intent) -> Pruned:
        """Delete the files of old versions.

        Args:
            keep: Number of newest and of previously live versions to keep.
            dry_run: Whether to delete nothing.
            intent: Author and note.
        """
        intent.refuse("prune", "override", "promote", "idempotency_key")
        if dry_run:
            return preview_prune(self._parts.journal, self._parts.objects, keep)
        try:
            return prune(self._parts.journal, self._parts.objects, keep, intent)
        finally:
            self._clear_caches(now() - ABANDONED)

    def purge(self, nodes: Iterable[Key], intent: Intent) -> "Purged":
        """Delete nodes permanently.

        Args:
            nodes: Keys of nodes.
            intent: Author and note.
        """
        from nodegraft.store.maintenance.purging import Purge

        intent.refuse("purge", "override", "promote", "idempotency_key")
        keys = key_array(several(nodes, "nodes"))
        if not keys.size:
            raise ParameterError("No node was given: give the keys of the nodes to delete.")
        try:
            return Purge(self._parts, keys.tolist()).run(intent)
        finally:
            self._clear_caches(now())
            # Cards repeat notes, which may name a node.
            shutil.rmtree(self._parts.place / CARDS, ignore_errors=True)

    def _clear_caches(self, abandoned: datetime) -> None:
        """Delete cached data of graphs that no version has any more."""
        journal = self._parts.journal
        pruned = journal.pruned()
        graphs = {row.graph for row in journal.versions() if row.number not in pruned}
        # The diffusion of a graph that has grown by little is cached with the graph before it.
        bases = {self._parts.states.graphs.base_of(name) or name for name in graphs}
        clear_caches(self._parts.place, graphs | bases, abandoned)
