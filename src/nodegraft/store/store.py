"""The production life of a model: every change is a version, checked, named, and undone at will."""

import shutil
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nodegraft.base.errors import ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.keys import Key, key_array, several
from nodegraft.store.authorship import author, writable
from nodegraft.store.changes import Change
from nodegraft.store.links import CARDS, refuse_links
from nodegraft.store.pruning import ABANDONED, KEEP, Pruned, previewed, prune
from nodegraft.store.rows import Version, now
from nodegraft.store.shelf import clear_shelves
from nodegraft.store.writer import StoreWriter

if TYPE_CHECKING:
    from datetime import datetime

    from nodegraft.graph.graph import Graph
    from nodegraft.model.confidence import World
    from nodegraft.store.migration import Migration
    from nodegraft.store.purging import Purged
    from nodegraft.store.verification import Verification
    from nodegraft.tables.labels import Labels
    from nodegraft.tables.node_texts import NodeTexts


class Store(StoreWriter):
    """A folder with a graph, its labels, a model, and all they have been.

    Open one with :meth:`open`, make one with :meth:`init`. Every change makes a version; the newest
    one is the *candidate*. The one that answers is the *champion*: only :meth:`promote` and
    :meth:`rollback` choose it. A change that is cut leaves the version before or the version after.

    Args:
        place: The folder.
        journal: What was done to it.
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
        by: str | None = None,
        note: str = "",
        listener: Listener = SILENT,
    ) -> "Store":
        """Make a store with a first version, which answers from the start.

        Args:
            place: A folder that does not exist yet, or is empty.
            graph: All nodes and edges. One on disk (:func:`nodegraft.load_graph` of what
                :func:`nodegraft.build_graph` built) stays there: its files become the store's.
            labels: Class name -> keys of its nodes; or a table with the columns ``key`` and
                ``label``, or a pandas Series whose index are keys: wherever a store takes labels.
                From ten labels of a class up, a fifth of them does not teach but checks.
            method: The name of a method; the default adds new classes without training.
            parameters: Hyper-parameters of the method.
            tables: How tables are read (``key``, ``source``, ``target``, ``edge_type``,
                ``edge_weight``, ``directed``): :meth:`grow` and :meth:`sync` read theirs so.
            texts: What people read about each node: ``texts`` of :func:`nodegraft.read_tables`.
                No model sees it.
            database: Where versions are written down, as SQLAlchemy names it; None for an SQLite
                file in the folder.
            objects: Where graphs, labels and models are kept, as fsspec names it
                (``s3://bucket/shop``): a place of its own. None for the folder.
            world: ``open`` if nodes may belong to classes that are not known yet, ``closed`` if
                every node belongs to a known class; it decides what confidence means
                (:mod:`nodegraft.model.confidence`) and can be changed (the setting ``world``). None
                for the ``world`` of ``parameters``, or else open if the method has an open-set
                score. Without one it is closed.
            by: Who does it; None for the user that is logged in.
            note: Why.
            listener: Is told how far it is.
        """
        from nodegraft.store.creation import made_in
        from nodegraft.store.settings import StoreSettings
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
            by=by,
            note=note,
            listener=listener,
        )
        return cls(folder, journal)

    @staticmethod
    def migrate(place: str | Path) -> "Migration":
        """Bring the database of a store that an older nodegraft made up to date.

        Its tokens (``tokens.json``) are imported into the database.

        Killed at any moment, it is as it was before or as it is after.

        Args:
            place: The folder of the store.
        """
        from nodegraft.store.migration import migrate
        from nodegraft.store.objects import Objects
        from nodegraft.store.ownership import adopt_place
        from nodegraft.store.settings import journal_in, settings_in
        from nodegraft.store.tokens import StoreTokens

        folder = Path(place).expanduser()
        refuse_links(folder)
        with closing(journal_in(folder)) as journal:
            done = migrate(journal)
            settings = settings_in(folder)
            objects = Objects(settings.objects_of(folder), in_store=settings.objects is None)
            adopt_place(journal, objects)
            return replace(done, tokens=StoreTokens(journal, folder).import_file())

    @staticmethod
    def verify(
        place: str | Path, *, by: str | None = None, listener: Listener = SILENT
    ) -> "Verification":
        """Compare every file of a store with its checksum.

        Damage is recorded: the store is not opened until a later verification finds none.

        Args:
            place: The folder of the store.
            by: Who does it; None for the user that is logged in.
            listener: Is told how far it is.
        """
        from nodegraft.store.verification import verify

        return verify(Path(place).expanduser(), listener, by)

    def add(self, classes: "Labels", *, force_name: bool = False, **told: Any) -> Version:
        """Learn new classes.

        Args:
            classes: New class -> keys of its nodes.
            force_name: Whether a name may differ only by case or blanks from that of another class.
            told: ``by``, ``note``, ``override``, ``promote`` and ``listener``, as in
                :meth:`change`.
        """
        change = Change("add", {"classes": _plain(classes)}).with_forced_name(force_name)
        return self.change(change, **told)

    def label(self, more: "Labels", **told: Any) -> Version:
        """Learn more labels of known classes.

        Args:
            more: Known class -> keys of nodes that have no label.
            told: As in :meth:`add`.
        """
        return self.change(Change("label", {"more": _plain(more)}), **told)

    def unlabel(self, nodes: Iterable[Key], **told: Any) -> Version:
        """Take labels back.

        Args:
            nodes: Keys of labelled nodes.
            told: As in :meth:`add`.
        """
        return self.change(Change("unlabel", {"keys": _plain_keys(nodes)}), **told)

    def relabel(self, classes: "Labels", **told: Any) -> Version:
        """Give labelled nodes another class.

        Args:
            classes: Known class -> keys of nodes that are labelled as something else.
            told: As in :meth:`add`.
        """
        return self.change(Change("relabel", {"classes": _plain(classes)}), **told)

    def remove(self, names: Iterable[str], **told: Any) -> Version:
        """Forget classes.

        Args:
            names: The classes that go.
            told: As in :meth:`add`.
        """
        return self.change(Change("remove", {"names": list(names)}), **told)

    def rename(self, old: str, new: str, *, force_name: bool = False, **told: Any) -> Version:
        """Call a class by another name.

        Args:
            old: The name it has.
            new: The name it gets.
            force_name: As in :meth:`add`.
            told: As in :meth:`add`.
        """
        change = Change("rename", {"old": old, "new": new}).with_forced_name(force_name)
        return self.change(change, **told)

    def merge(
        self, names: Iterable[str], into: str, *, force_name: bool = False, **told: Any
    ) -> Version:
        """Make several classes one.

        Args:
            names: The classes.
            into: What they are called from then on.
            force_name: As in :meth:`add`.
            told: As in :meth:`add`.
        """
        change = Change("merge", {"names": list(names), "into": into}).with_forced_name(force_name)
        return self.change(change, **told)

    def split(
        self, name: str, parts: "Labels", *, force_name: bool = False, **told: Any
    ) -> Version:
        """Make one class several.

        Args:
            name: The class.
            parts: New class -> keys of its nodes. Labels of the old class that are in none go.
            force_name: As in :meth:`add`.
            told: As in :meth:`add`.
        """
        change = Change("split", {"name": name, "parts": _plain(parts)}).with_forced_name(
            force_name
        )
        return self.change(change, **told)

    def prune(
        self,
        keep: int = KEEP,
        *,
        dry_run: bool = False,
        by: str | None = None,
        note: str = "",
    ) -> Pruned:
        """Free what old versions take on the disk; what they did stays listed.

        The newest versions stay whole, the one that answers, and those that answered before it.
        Files that killed processes have left go too, an hour after they were written.

        Args:
            keep: How many of the newest stay, and how many of those that :meth:`rollback` leads
                back to.
            dry_run: Only say what would go.
            by: Who does it; None for the user that is logged in.
            note: Why.
        """
        if dry_run:
            return previewed(self._journal, self._objects, keep)
        try:
            return prune(self._journal, self._objects, keep, author(by), writable(note))
        finally:
            self._clear_shelves(now() - ABANDONED)

    def purge(
        self,
        nodes: Iterable[Key],
        *,
        by: str | None = None,
        note: str = "",
        listener: Listener = SILENT,
    ) -> "Purged":
        """Forget nodes for good: their keys, features, edges and labels, in all that there is.

        What answers, and the candidate, are learned anew without them. All versions before are
        pruned, and what is listed of them names the nodes no more. It cannot be undone.

        Args:
            nodes: Keys of nodes, of today's graph or of an older one.
            by: Who does it; None for the user that is logged in.
            note: Why; the nodes' keys are struck from it.
            listener: Is told how far it is.
        """
        from nodegraft.store.purging import Purge

        keys = key_array(several(nodes, "nodes"))
        if not keys.size:
            raise ParameterError("No node was given: give the keys of the nodes to delete.")
        forgetting = Purge(self._journal, self._objects, self._states, keys.tolist())
        try:
            return forgetting.run(author(by), writable(note), listener)
        finally:
            self._clear_shelves(now())
            # They repeat notes, which may name a node.
            shutil.rmtree(self.place / CARDS, ignore_errors=True)

    def _clear_shelves(self, abandoned: "datetime") -> None:
        """Of graphs that no version has any more."""
        pruned = self._journal.pruned()
        whole = {one.graph for one in self._journal.versions() if one.number not in pruned}
        # Of a graph that has grown by little, heat lies with the one before.
        bases = {self._states.graphs.base_of(name) or name for name in whole}
        clear_shelves(self.place, whole | bases, abandoned)


def _plain(classes: "Labels") -> dict[str, list[Key]]:
    from nodegraft.tables.labels import keys_by_class

    return {name: _plain_keys(keys) for name, keys in keys_by_class(classes).items()}


def _plain_keys(keys: Iterable[Key]) -> list[Key]:
    # NumPy's numbers are no JSON. A single text is left for the change to refuse.
    if isinstance(keys, str):
        return keys  # type: ignore[return-value]
    return [key.item() if isinstance(key, np.generic) else key for key in keys]
