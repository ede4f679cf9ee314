"""Purge: delete nodes from all versions. It is the only operation that changes rows of a store."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nodegraft.analysis.preview import compare
from nodegraft.analysis.version import Promotion, Version, now
from nodegraft.base.errors import ParameterError, StoreError
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key, key_array, several
from nodegraft.store.intent import Intent
from nodegraft.store.maintenance.forgetting import (
    note_without,
    state_without,
    text_without,
    version_without,
)
from nodegraft.store.maintenance.pruning import clear_unused_caches, sweep_all
from nodegraft.store.objects.place import CARDS, require_own_place
from nodegraft.store.parts import StoreParts
from nodegraft.store.versions.audit import rewrite_audit
from nodegraft.store.versions.database import erase_free_space, erase_on_delete
from nodegraft.store.versions.journal import (
    promotions_in,
    rewrite_rows,
    versions_in,
    write_rows,
)
from nodegraft.store.versions.versions import diff_measures
from nodegraft.tables.node_texts import NodeTexts


@dataclass(frozen=True)
class Purged:
    """Result of a purge."""

    nodes: int
    """Number of deleted nodes."""

    made: tuple[int, ...]
    """Versions that were made without them: of the live version and, if it differs, the newest."""

    live: int
    """Number of the live version."""

    versions: tuple[int, ...]
    """Versions whose graph, labels and model are deleted."""

    rows: int
    """Number of rows of versions and promotions from which the nodes were removed."""

    files: int
    """Number of deleted files."""


def purge(parts: StoreParts, nodes: Iterable[Key], intent: Intent) -> Purged:
    """Delete nodes permanently; :meth:`nodegraft.Store.purge` describes it."""
    intent.refuse("purge", "override", "promote", "idempotency_key")
    keys = key_array(several(nodes, "nodes"))
    if not keys.size:
        raise ParameterError("No node was given: give the keys of the nodes to delete.")
    try:
        return Purge(parts, keys.tolist()).run(intent)
    finally:
        clear_unused_caches(parts, now())
        # Cards repeat notes, which may name a node.
        shutil.rmtree(parts.place / CARDS, ignore_errors=True)


class Purge:
    """Deletion of nodes from all that a store has.

    Args:
        parts: Versions and files of the store.
        nodes: Keys of the nodes.
    """

    def __init__(self, parts: StoreParts, nodes: Iterable[Key]) -> None:
        self._journal, self._objects, self._states = parts.journal, parts.objects, parts.states
        self._listener, journal = parts.listener, parts.journal
        self._keys = frozenset(nodes)
        self._versions, self._moves = journal.versions(), journal.promotions()
        self._whole = [one for one in self._versions if one.number not in journal.pruned()]

    def run(self, intent: Intent) -> Purged:
        """Refit the live and the newest version without the nodes, and delete everything else."""
        self.refuse_unknown()
        numbers = dict.fromkeys((self._moves[-1].version, self._journal.newest().number))
        made = [self._made(self._versions[number - 1]) for number in numbers]
        rows = self._rows(made, intent)
        first, after = rows[0], self._moves[-1].number + 1
        struck = self._write(
            rows, Promotion(after, first.number, "promote", first.by, first.note, first.at)
        )
        removed = sweep_all(self._journal, self._objects)
        erase_free_space(self._journal.engine)
        return Purged(
            len(self._keys),
            tuple(row.number for row in rows),
            first.number,
            tuple(first.detail["versions"]),
            struck,
            len(removed),
        )

    def _rows(self, made: Sequence[Version], intent: Intent) -> list[Version]:
        """Return the rows of refitted versions; the first of them prunes all others."""
        whole, at, last = [one.number for one in self._whole], now(), self._versions[-1].number
        rows = []
        for place, version in enumerate(made):
            detail = {
                "nodes": len(self._keys),
                "instead_of": version.number,
                "versions": [] if place else whole,
            }
            number = last + 1 + place
            row = replace(version, number=number, parent=number - 1, detail=detail, at=at)
            row = replace(row, by=intent.author_name, note=intent.note)
            rows.append(note_without(row, self._keys))
        return rows

    def _made(self, version: Version) -> Version:
        """Refit a version without the nodes; the result still has its number."""
        before = self._states.get(version.names)
        with self._states.graphs.work_folder() as folder:
            after = state_without(before, self._keys, folder, self._listener)
            name, graph = self._states.put_graph(after.graph)
        after = replace(after, graph=graph)
        names = self._states.put(after, name, self._texts_left(version, before.graph))
        measures = diff_measures(compare(before, after))
        return replace(version, action="purge", **vars(names), measures=measures)

    def _texts_left(self, version: Version, graph: Graph) -> NodeTexts | None:
        if version.texts is None:
            return None
        left = np.setdiff1d(graph.rows, graph.node_keys.find(list(self._keys)))
        return NodeTexts.of(self._states.texts(version.texts).at(left))

    def _write(self, made: Sequence[Version], move: Promotion) -> int:
        """Remove the nodes from all rows in one transaction; return how many rows named them."""
        known: list[Version | Promotion] = [*self._versions, *self._moves]
        struck: list[Version | Promotion] = [
            *(version_without(one, self._keys) for one in self._versions),
            *(note_without(one, self._keys) for one in self._moves),
        ]
        changed = [new for old, new in zip(known, struck, strict=True) if new != old]
        with self._journal.transaction(alone=True) as connection:
            names = (name for row in made for name in row.names.all)
            found = [*versions_in(connection), *promotions_in(connection)]
            if found != known or self._objects.lacks(names):
                raise StoreError("The store has changed meanwhile. Nothing was purged: try again.")
            erase_on_delete(connection)
            write_rows(connection, *made, move)
            rewrite_rows(connection, changed)
            rewrite_audit(connection, lambda text: text_without(text, self._keys))
        return len(changed)

    def refuse_unknown(self) -> None:
        """Raise an error for nodes that nothing in the store names: misspelt, or purged before."""
        with self._journal.connection() as connection:
            require_own_place(connection, self._objects)
        left = set(self._keys)
        for name in dict.fromkeys(one.graph for one in reversed(self._whole)):
            listed = list(left)
            places = self._states.graph(name).node_keys.find(listed)
            left = {key for key, place in zip(listed, places, strict=True) if place < 0}
            if not left:
                return
        struck = {key: [version_without(one, {key}) for one in self._versions] for key in left}
        left = {key for key in left if struck[key] == self._versions}
        if not left:
            return
        if left == self._keys:
            # A purge of them may have been interrupted: do what it left.
            sweep_all(self._journal, self._objects)
            erase_free_space(self._journal.engine)
        shown = ", ".join(map(repr, sorted(left, key=str)[:5]))
        raise StoreError(
            f"No version and no history entry of this store names {shown}. If a purge of it was "
            "interrupted, it is complete now."
        )
