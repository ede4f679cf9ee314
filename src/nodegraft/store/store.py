"""The production life of a model: every change is a version, checked, named, and undone at will."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.keys import Key
from nodegraft.store.changes import Change
from nodegraft.store.journal import Version
from nodegraft.store.writer import StoreWriter

if TYPE_CHECKING:
    from nodegraft.graph.graph import Graph
    from nodegraft.tables.labels import Labels


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
        database: str | None = None,
        by: str | None = None,
        note: str = "",
        listener: Listener = SILENT,
    ) -> "Store":
        """Make a store with a first version, which answers from the start.

        Args:
            place: A folder that does not exist yet, or is empty.
            graph: All nodes and edges.
            labels: Class name -> keys of its nodes; or a table with the columns ``key`` and
                ``label``, or a pandas Series whose index are keys: wherever a store takes labels.
                From ten labels of a class up, a fifth of them does not teach but checks.
            method: The name of a method; the default takes new classes in milliseconds.
            parameters: Hyper-parameters of the method.
            tables: How tables are read (``key``, ``source``, ``target``, ``edge_type``,
                ``edge_weight``, ``directed``): :meth:`grow` and :meth:`sync` read theirs so.
            database: Where versions are written down, as SQLAlchemy names it; None for an SQLite
                file in the folder.
            by: Who does it; None for the user that is logged in.
            note: Why.
            listener: Is told how far it is.
        """
        from nodegraft.store.creation import made_in
        from nodegraft.tables.labels import keys_by_class

        folder = Path(place).expanduser()
        journal = made_in(
            folder,
            graph,
            keys_by_class(labels),
            method=method,
            parameters=parameters or {},
            tables=tables or {},
            database=database,
            by=by,
            note=note,
            listener=listener,
        )
        return cls(folder, journal)

    def add(self, classes: "Labels", **told: Any) -> Version:
        """Learn new classes.

        Args:
            classes: New class -> keys of its nodes.
            told: ``by``, ``note``, ``override`` and ``listener``, as in :meth:`change`.
        """
        return self.change(Change("add", {"classes": _plain(classes)}), **told)

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

    def rename(self, old: str, new: str, **told: Any) -> Version:
        """Call a class by another name.

        Args:
            old: The name it has.
            new: The name it gets.
            told: As in :meth:`add`.
        """
        return self.change(Change("rename", {"old": old, "new": new}), **told)

    def merge(self, names: Iterable[str], into: str, **told: Any) -> Version:
        """Make several classes one.

        Args:
            names: The classes.
            into: What they are called from then on.
            told: As in :meth:`add`.
        """
        return self.change(Change("merge", {"names": list(names), "into": into}), **told)

    def split(self, name: str, parts: "Labels", **told: Any) -> Version:
        """Make one class several.

        Args:
            name: The class.
            parts: New class -> keys of its nodes. Labels of the old class that are in none go.
            told: As in :meth:`add`.
        """
        return self.change(Change("split", {"name": name, "parts": _plain(parts)}), **told)


def _plain(classes: "Labels") -> dict[str, list[Key]]:
    from nodegraft.tables.labels import keys_by_class

    return {name: _plain_keys(keys) for name, keys in keys_by_class(classes).items()}


def _plain_keys(keys: Iterable[Key]) -> list[Key]:
    # NumPy's numbers are no JSON. A single text is left for the change to refuse.
    if isinstance(keys, str):
        return keys  # type: ignore[return-value]
    return [key.item() if isinstance(key, np.generic) else key for key in keys]
