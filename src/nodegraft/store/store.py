"""Store of a model in production: every change is a version, which is checked and can be undone."""

import shutil
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.version import Version, now
from nodegraft.base.errors import ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.keys import Key, key_array, several
from nodegraft.store.intent import Intent
from nodegraft.store.maintenance.pruning import ABANDONED, KEEP, Pruned, previewed, prune
from nodegraft.store.objects.derived_cache import clear_shelves
from nodegraft.store.objects.links import CARDS, refuse_links
from nodegraft.store.writer import StoreWriter

if TYPE_CHECKING:
    from datetime import datetime

    from nodegraft.graph.graph import Graph
    from nodegraft.model.confidence import World
    from nodegraft.store.maintenance.purging import Purged
    from nodegraft.store.maintenance.verification import Verification
    from nodegraft.store.versions.migration import Migration
    from nodegraft.tables.labels import Labels
    from nodegraft.tables.node_texts import NodeTexts


class Store(StoreWriter):
    """Folder with a graph, its labels, a model, and all versions of them.

    Open a store with :meth:`open`, create one with :meth:`init`. Every change makes a version; the
    newest one is the *candidate*. Predictions come from the *live* version (``champion``): only
    :meth:`promote` and :meth:`rollback` choose it. An interrupted change leaves the version before
    or the version after.

    Args:
        place: The folder.
        journal: History of the store.
        listener: Receives progress events of long work.
    """

    @classmethod
    def init(
        cls,
        place: str | Path,
        graph: "Graph",
        labels: "Labels",
        *,
        method: str = "graft",
        parameters: Mapping[str, Any] | None = None,
        tables: Mapping[str, Any] | None = None,
        texts: "NodeTexts | None" = None,
        database: str | None = None,
        objects: str | None = None,
        world: "World | None" = None,
        intent: Intent = Intent(),
        listener: Listener = SILENT,
    ) -> "Store":
        """Create a store with a first version, which is live at once.

        Args:
            place: A folder that does not exist yet, or is empty.
            graph: All nodes and edges. One on disk (:func:`nodegraft.load_graph` of what
                :func:`nodegraft.build_graph` built) stays there: its files become the store's.
            labels: Class name -> keys of its nodes; or a table with the columns ``key`` and
                ``label``, or a pandas Series whose index are keys: wherever a store takes labels.
                If a class has ten labels or more, a fifth of them is held out to measure accuracy.
            method: Name of a method; the default adds new classes without training.
            parameters: Hyper-parameters of the method.
            tables: How tables are read (``key``, ``source``, ``target``, ``edge_type``,
                ``edge_weight``, ``directed``); :meth:`grow` and :meth:`sync` use it, too.
            texts: Text of each node to show to people: ``texts`` of :func:`nodegraft.read_tables`.
                Models do not use it.
            database: SQLAlchemy URL of the database for versions; None for an SQLite file in the
                folder.
            objects: fsspec URL for graphs, labels and models (``s3://bucket/shop``), which no
                other store may use. None for the folder.
            world: ``open`` if nodes may belong to unknown classes, ``closed`` if
                every node belongs to a known class; it decides what confidence means
                (:mod:`nodegraft.model.confidence`) and can be changed (the setting ``world``). None
                for the ``world`` of ``parameters``, or else open if the method has an open-set
                score. Without one it is closed.
            intent: Author and note.
            listener: Receives progress events, now and of later calls.
        """
        from nodegraft.store.creation import made_in
        from nodegraft.store.objects.place import StoreSettings
        from nodegraft.tables.labels import keys_by_class

        folder = Path(place).expanduser()
        journal = made_in(
            folder,
            graph,
            keys_by_class(labels),
            method=method,
            parameters=parameters or {},
            tables=tables or {},
            texts=texts,
            settings=StoreSettings(database, objects),
            world=world or (parameters or {}).get("world"),
            intent=intent,
            listener=listener,
        )
        return cls(folder, journal, listener)

    @staticmethod
    def migrate(place: str | Path) -> "Migration":
        """Bring the database of a store that an earlier release made up to date, or change nothing.

        Args:
            place: The folder of the store.
        """
        from nodegraft.store.objects.place import journal_in
        from nodegraft.store.versions.migration import migrate

        folder = Path(place).expanduser()
        refuse_links(folder)
        with closing(journal_in(folder)) as journal:
            return migrate(journal)

    @staticmethod
    def verify(
        place: str | Path, *, author: str | None = None, listener: Listener = SILENT
    ) -> "Verification":
        """Compare every file of a store with its checksum.

        Damage is recorded: the store is not opened until a later verification finds none.

        Args:
            place: The folder of the store.
            author: Who verifies; None for the logged-in user.
            listener: Receives progress events.
        """
        from nodegraft.store.maintenance.verification import verify

        return verify(Path(place).expanduser(), listener, author)

    def add(
        self, classes: "Labels", *, force_name: bool = False, intent: Intent = Intent()
    ) -> Version:
        """Add new classes.

        Args:
            classes: New class -> keys of its nodes.
            force_name: Allow a name that differs only by case or blanks from that of another class.
            intent: As in :meth:`change`.
        """
        change = Change("add", {"classes": _plain(classes)}).with_forced_name(force_name)
        return self.change(change, intent=intent)

    def label(self, more: "Labels", *, intent: Intent = Intent()) -> Version:
        """Add labels to known classes.

        Args:
            more: Known class -> keys of nodes that have no label.
            intent: As in :meth:`change`.
        """
        return self.change(Change("label", {"more": _plain(more)}), intent=intent)

    def unlabel(self, nodes: Iterable[Key], *, intent: Intent = Intent()) -> Version:
        """Remove labels.

        Args:
            nodes: Keys of labelled nodes.
            intent: As in :meth:`change`.
        """
        return self.change(Change("unlabel", {"keys": _plain_keys(nodes)}), intent=intent)

    def relabel(self, classes: "Labels", *, intent: Intent = Intent()) -> Version:
        """Change the class of labelled nodes.

        Args:
            classes: Known class -> keys of nodes that have a label of another class.
            intent: As in :meth:`change`.
        """
        return self.change(Change("relabel", {"classes": _plain(classes)}), intent=intent)

    def remove(self, names: Iterable[str], *, intent: Intent = Intent()) -> Version:
        """Remove classes.

        Args:
            names: Names of the classes to remove.
            intent: As in :meth:`change`.
        """
        return self.change(Change("remove", {"names": list(names)}), intent=intent)

    def rename(
        self, old: str, new: str, *, force_name: bool = False, intent: Intent = Intent()
    ) -> Version:
        """Rename a class.

        Args:
            old: Current name of the class.
            new: New name of the class.
            force_name: As in :meth:`add`.
            intent: As in :meth:`change`.
        """
        change = Change("rename", {"old": old, "new": new}).with_forced_name(force_name)
        return self.change(change, intent=intent)

    def merge(
        self,
        names: Iterable[str],
        into: str,
        *,
        force_name: bool = False,
        intent: Intent = Intent(),
    ) -> Version:
        """Merge several classes into one.

        Args:
            names: Names of the classes.
            into: Name of the merged class.
            force_name: As in :meth:`add`.
            intent: As in :meth:`change`.
        """
        change = Change("merge", {"names": list(names), "into": into}).with_forced_name(force_name)
        return self.change(change, intent=intent)

    def split(
        self, name: str, parts: "Labels", *, force_name: bool = False, intent: Intent = Intent()
    ) -> Version:
        """Split a class into several classes.

        Args:
            name: Name of the class.
            parts: New class -> keys of its nodes. Labels that are assigned to no part are removed.
            force_name: As in :meth:`add`.
            intent: As in :meth:`change`.
        """
        change = Change("split", {"name": name, "parts": _plain(parts)}).with_forced_name(
            force_name
        )
        return self.change(change, intent=intent)

    def prune(
        self,
        keep: int = KEEP,
        *,
        dry_run: bool = False,
        intent: Intent = Intent(),
    ) -> Pruned:
        """Delete the files of old versions; their rows stay in the history.

        The newest versions, the live version and the last live versions before it are kept. Files
        that killed processes have left are deleted an hour after they were written.

        Args:
            keep: How many of the newest versions to keep, and how many of the previously live ones,
                to which :meth:`rollback` can return.
            dry_run: Whether to report what would be deleted, and to delete nothing.
            intent: Author and note.
        """
        intent.refuse("prune", "override", "promote", "idempotency_key")
        if dry_run:
            return previewed(self._journal, self._objects, keep)
        try:
            return prune(self._journal, self._objects, keep, intent)
        finally:
            self._clear_shelves(now() - ABANDONED)

    def purge(self, nodes: Iterable[Key], *, intent: Intent = Intent()) -> "Purged":
        """Delete nodes permanently: their keys, features, edges and labels, in all versions.

        The live version and the candidate are refitted without them. All earlier versions are
        pruned, and their history no longer names the nodes. This cannot be undone.

        Args:
            nodes: Keys of nodes, of the current graph or of an older one.
            intent: Author and note; the keys of the nodes are removed from the note.
        """
        from nodegraft.store.maintenance.purging import Purge

        intent.refuse("purge", "override", "promote", "idempotency_key")
        keys = key_array(several(nodes, "nodes"))
        if not keys.size:
            raise ParameterError("No node was given: give the keys of the nodes to delete.")
        forgetting = Purge(self._journal, self._objects, self._states, keys.tolist())
        try:
            return forgetting.run(intent, self.listener)
        finally:
            self._clear_shelves(now())
            # Cards repeat notes, which may name a node.
            shutil.rmtree(self.place / CARDS, ignore_errors=True)

    def _clear_shelves(self, abandoned: "datetime") -> None:
        """Delete cached data of graphs that no version has any more."""
        pruned = self._journal.pruned()
        whole = {one.graph for one in self._journal.versions() if one.number not in pruned}
        # The heat of a graph that has grown by little is stored with the graph before it.
        bases = {self._states.graphs.base_of(name) or name for name in whole}
        clear_shelves(self.place, whole | bases, abandoned)


def _plain(classes: "Labels") -> dict[str, list[Key]]:
    from nodegraft.tables.labels import keys_by_class

    return {name: _plain_keys(keys) for name, keys in keys_by_class(classes).items()}


def _plain_keys(keys: Iterable[Key]) -> list[Key]:
    # JSON has no NumPy numbers. A single string is passed on, so that the change refuses it.
    if isinstance(keys, str):
        return keys  # type: ignore[return-value]
    return [key.item() if isinstance(key, np.generic) else key for key in keys]
