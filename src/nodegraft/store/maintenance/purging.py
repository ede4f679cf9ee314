"""Purge: delete nodes from all versions, and their keys from the rows of the history.

No other operation changes existing rows."""

import re
import shutil
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.preview import compare
from nodegraft.analysis.snapshot import State
from nodegraft.analysis.version import Promotion, Version, now
from nodegraft.base.errors import ParameterError, StoreError
from nodegraft.base.events import Listener
from nodegraft.graph.edges.matrix import IntArray, is_sparse
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key, key_array, several
from nodegraft.model.hooks import Capability
from nodegraft.model.method import Method
from nodegraft.model.registry import make_method
from nodegraft.store.intent import Intent
from nodegraft.store.maintenance.pruning import clear_unused_caches, sweep_all
from nodegraft.store.objects.place import CARDS, require_own_place
from nodegraft.store.parts import StoreParts
from nodegraft.store.table_changes import BLOCK
from nodegraft.store.versions.audit import rewrite_audit
from nodegraft.store.versions.database import erase_free_space, erase_on_delete
from nodegraft.store.versions.journal import (
    promotions_in,
    rewrite_rows,
    versions_in,
    write_rows,
)
from nodegraft.store.versions.versions import diff_measures
from nodegraft.tables.disk.save import save_mapped
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.node_texts import NodeTexts

STRUCK = "[purged]"
"""Text that replaces the key of a purged node in a note."""

Row = TypeVar("Row", Version, Promotion)


def state_without(state: State, keys: Collection[Key], folder: Path, listener: Listener) -> State:
    """Remove nodes from a state, and fit its model again.

    Args:
        keys: Keys of the nodes to remove; unknown keys are ignored.
        folder: New folder in which a graph on disk is written.
    """
    rows = state.graph.node_keys.find(list(keys))
    graph = graph_without(state.graph, rows[rows >= 0], folder)
    labelled = [key for key in keys if key in state.labels.owners()]
    labels = state.labels.unlabelled(labelled) if labelled else state.labels
    return State(graph, labels, _refitted(state.model, graph, labels, listener))


def graph_without(graph: Graph, rows: IntArray, folder: Path) -> Graph:
    """Remove nodes from a graph, together with features that no other node has.

    Args:
        folder: New folder in which a graph on disk is written, in blocks.
    """
    remaining, recipe = np.setdiff1d(graph.rows, rows), None
    is_used = np.ones(graph.num_features, dtype=bool)
    if isinstance(graph.recipe, FeatureRecipe):
        recipe, is_used = graph.recipe.without_unused(_unused(graph, remaining))
    if graph.is_on_disk:
        return save_mapped(graph, folder, rows=remaining, columns=is_used, recipe=recipe)
    smaller = graph.without(rows)
    if is_used.all():
        return smaller
    return smaller.with_features(smaller.features(smaller.rows)[:, is_used], recipe)


def _unused(graph: Graph, rows: IntArray) -> NDArray[np.bool_]:
    """Return a mask of the features whose values are 0 in all given rows."""
    used = np.zeros(graph.num_features, dtype=bool)
    for start in range(0, rows.size, BLOCK):
        some: Any = graph.features(rows[start : start + BLOCK])
        used[some.indices[some.data != 0] if is_sparse(some) else some.nonzero()[1]] = True
    return ~used


def _refitted(model: Method, graph: Graph, labels: StoreLabels, listener: Listener) -> Method:
    new_model = make_method(model.name, **model.get_params())
    rows = labels.training_rows(graph)
    if Capability.SET_LABELS not in model.capabilities():
        return new_model.fit(graph, rows, listener=listener)
    # Fit on the classes of the first session and then add the later classes, as in the store's
    # history.
    first = min(labels.sessions.values())
    base = [name for name, session in labels.sessions.items() if session == first]
    new_model.fit(graph, rows.select(base), listener=listener)
    new_model.set_labels(graph, rows, labels.sessions, listener=listener)
    return new_model


def version_without(version: Version, keys: Collection[Key]) -> Version:
    """Remove node keys from a version's row: from its note, override reason and change."""
    measures = version.measures
    if "override" in measures:
        measures = measures | {"override": text_without(measures["override"], keys)}
    detail = {
        name: _without(value, keys) if name in ("classes", "more", "parts", "keys") else value
        for name, value in version.detail.items()
    }
    return replace(note_without(version, keys), detail=detail, measures=measures)


def note_without(row: Row, keys: Collection[Key]) -> Row:
    """Replace node keys in the note of a version or promotion by `[purged]`."""
    return replace(row, note=text_without(row.note, keys))


def _without(value: Any, keys: Collection[Key]) -> Any:
    if isinstance(value, dict):
        return {name: _without(part, keys) for name, part in value.items()}
    return [key for key in value if key not in keys]


def text_without(text: str, keys: Collection[Key]) -> str:
    """Replace node keys in a text by `[purged]`."""
    for key in keys:
        text = re.sub(rf"(?<!\w){re.escape(str(key))}(?!\w)", STRUCK, text)
    return text


@dataclass(frozen=True)
class Purged:
    """Result of a purge."""

    nodes: int
    """Number of deleted nodes."""

    new_versions: tuple[int, ...]
    """Numbers of the refitted versions, which replace the live and the newest version."""

    live: int
    """Number of the live version."""

    versions: tuple[int, ...]
    """Numbers of the versions whose graph, labels and model are deleted."""

    rows: int
    """Number of rows of versions and promotions from which node keys were removed."""

    files: int
    """Number of deleted files."""


def purge(parts: StoreParts, nodes: Iterable[Key], intent: Intent) -> Purged:
    """Delete nodes permanently; see :meth:`nodegraft.Store.purge`."""
    intent.refuse("purge", "override", "promote", "idempotency_key")
    keys = key_array(several(nodes, "nodes"))
    if not keys.size:
        raise ParameterError("No node was given: give the keys of the nodes to delete.")
    try:
        return Purge(parts, keys.tolist()).run(intent)
    finally:
        clear_unused_caches(parts, now())
        # Delete all model cards, because their notes may contain the key of a purged node.
        shutil.rmtree(parts.place / CARDS, ignore_errors=True)


class Purge:
    """Deletion of nodes from all versions and files of a store.

    Args:
        parts: Versions and files of the store.
        nodes: Keys of the nodes to delete.
    """

    def __init__(self, parts: StoreParts, nodes: Iterable[Key]) -> None:
        self._journal, self._objects, self._states = parts.journal, parts.objects, parts.states
        self._listener, self._keys = parts.listener, frozenset(nodes)
        self._versions, self._moves = self._journal.versions(), self._journal.promotions()
        pruned = self._journal.pruned()
        self._whole = [version for version in self._versions if version.number not in pruned]

    def run(self, intent: Intent) -> Purged:
        """Refit the live and the newest version without the nodes, and prune all old versions."""
        self.refuse_unknown()
        numbers = dict.fromkeys((self._moves[-1].version, self._journal.heads().newest.number))
        versions = [self._refit_version(self._versions[number - 1]) for number in numbers]
        rows = self._rows(versions, intent)
        first, after = rows[0], self._moves[-1].number + 1
        move = Promotion(after, first.number, "promote", first.by, first.note, first.at)
        num_changed = self._write(rows, move)
        deleted_files = sweep_all(self._journal, self._objects)
        erase_free_space(self._journal.engine)
        return Purged(
            nodes=len(self._keys),
            new_versions=tuple(row.number for row in rows),
            live=first.number,
            versions=tuple(first.detail["versions"]),
            rows=num_changed,
            files=len(deleted_files),
        )

    def _rows(self, versions: Sequence[Version], intent: Intent) -> list[Version]:
        """Return the rows of the refitted versions; the first also records the prune.

        Args:
            versions: Refitted versions, numbered like the versions that they replace.
        """
        whole = [version.number for version in self._whole]
        at, last = now(), self._versions[-1].number
        rows = []
        for place, version in enumerate(versions):
            detail = {
                "nodes": len(self._keys),
                "instead_of": version.number,
                "versions": [] if place else whole,
            }
            number = last + 1 + place
            row = replace(version, number=number, parent=number - 1, detail=detail, at=at)
            note = text_without(intent.note, self._keys)
            rows.append(replace(row, by=intent.author_name, note=note))
        return rows

    def _refit_version(self, version: Version) -> Version:
        """Refit a version without the purged nodes; the result keeps the version number."""
        before = self._states.get(version.names)
        with self._states.graphs.work_folder() as folder:
            after = state_without(before, self._keys, folder, self._listener)
            after = replace(after, graph=self._states.put_graph(after.graph))
        texts = self._remaining_texts(version, before.graph)
        names = self._states.put(after, self._states.put_texts(texts))
        measures = diff_measures(compare(before, after))
        return replace(version, action="purge", **vars(names), measures=measures)

    def _remaining_texts(self, version: Version, graph: Graph) -> NodeTexts | None:
        if version.texts is None:
            return None
        rows = np.setdiff1d(graph.rows, graph.node_keys.find(list(self._keys)))
        return NodeTexts.of(self._states.texts(version.texts).at(rows))

    def _write(self, versions: Sequence[Version], move: Promotion) -> int:
        """Write the new rows and remove node keys from old ones, in one transaction.

        Args:
            versions: Rows of the refitted versions.
            move: Promotion of the new live version.

        Returns:
            Number of old rows from which node keys were removed.
        """
        known: list[Version | Promotion] = [*self._versions, *self._moves]
        new: list[Version | Promotion] = [
            *(version_without(version, self._keys) for version in self._versions),
            *(note_without(move, self._keys) for move in self._moves),
        ]
        changed = [row for old, row in zip(known, new, strict=True) if row != old]
        with self._journal.transaction(alone=True) as connection:
            names = (name for row in versions for name in row.names.all)
            old = [*versions_in(connection), *promotions_in(connection)]
            if old != known or self._objects.lacks(names):
                raise StoreError("The store has changed meanwhile. Nothing was purged: try again.")
            erase_on_delete(connection)
            write_rows(connection, *versions, move)
            rewrite_rows(connection, changed)
            rewrite_audit(connection, lambda text: text_without(text, self._keys))
        return len(changed)

    def refuse_unknown(self) -> None:
        """Raise an error for node keys that are in no graph and no version row of the store.

        Such a key is misspelt, or its node was purged earlier.
        """
        with self._journal.connection() as connection:
            require_own_place(connection, self._objects)
        unknown = set(self._keys)
        for name in dict.fromkeys(version.graph for version in reversed(self._whole)):
            keys = list(unknown)
            places = self._states.graph(name).node_keys.find(keys)
            unknown = {key for key, place in zip(keys, places, strict=True) if place < 0}
            if not unknown:
                return
        others = {
            key: [version_without(version, {key}) for version in self._versions] for key in unknown
        }
        unknown = {key for key in unknown if others[key] == self._versions}
        if not unknown:
            return
        if unknown == self._keys:
            # An earlier purge of these nodes may have been interrupted, so complete it.
            sweep_all(self._journal, self._objects)
            erase_free_space(self._journal.engine)
        text = ", ".join(map(repr, sorted(unknown, key=str)[:5]))
        raise StoreError(
            f"No version and no history entry of this store names {text}. If a purge of it was "
            "interrupted, it is complete now."
        )
