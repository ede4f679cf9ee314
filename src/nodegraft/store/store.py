"""The production life of a model: every change is a version, checked, named, and undone at will."""

import getpass
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nodegraft.base.errors import GateError, ParameterError, StoreError, UnfinishedStoreError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.files.folder import WriteOnceFolder
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.graph.labels import NodeLabels
from nodegraft.store.changes import Change, changes_labels, replayed
from nodegraft.store.growth import grown, synced, table_changes
from nodegraft.store.journal import DATABASE_FILES, Promotion, Version, database_url, now
from nodegraft.store.labels import StoreLabels
from nodegraft.store.measures import right_answers
from nodegraft.store.migration import migrated, require_free
from nodegraft.store.objects import Objects
from nodegraft.store.preview import Preview, compare
from nodegraft.store.reader import FORMAT, SETTINGS, StoreReader
from nodegraft.store.state import State, StateNames, States, first_state
from nodegraft.tables.columns import Source

Labels = Mapping[str, Iterable[Key]]


class Store(StoreReader):
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
        graph: Graph,
        labels: Labels,
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
            labels: Class name -> keys of its nodes. From ten labels of a class up, a fifth of them
                does not teach but checks.
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
        folder = Path(place).expanduser()
        _refuse_taken(folder)
        NodeLabels.by_key(graph, labels)
        # Before the long part: whoever named a wrong place is told at once.
        if database:
            require_free(database)
        WriteOnceFolder(folder).check_writable()
        checked = StoreLabels().added(labels)
        state = first_state(graph, checked, method, dict(parameters or {}), listener)
        measures = {"after": right_answers(state, checked.held_out).to_json()}
        names = States(Objects(folder / "objects")).put(state)
        journal = migrated(database_url(folder, database))
        settings = json.dumps({"format": FORMAT, "database": database}, indent=2)
        ours = WriteOnceFolder(folder).write(SETTINGS, f"{settings}\n".encode())
        who, at = _who(by), now()
        detail = {"tables": dict(tables or {})}
        version = Version(1, None, "init", detail, who, note, at, **vars(names), measures=measures)
        # Last: a store that has a version is whole.
        try:
            journal.add(version, Promotion(1, 1, "init", who, note, at))
        except StoreError:
            # Somebody else's store came first.
            journal.close()
            if ours:
                (folder / SETTINGS).unlink()
            raise
        return cls(folder, journal)

    # Teaching and mending: each has a preview, by `preview`, of what it would do.

    def preview(self, change: Change, listener: Listener = SILENT) -> Preview:
        """What a change would do to the candidate.

        Args:
            change: The change.
            listener: Is told how far it is.
        """
        before = self._state(self._journal.version())
        return compare(before, self._changed(before, change, listener))

    def add(self, classes: Labels, **told: Any) -> Version:
        """Learn new classes.

        Args:
            classes: New class -> keys of its nodes.
            told: ``by``, ``note``, ``override`` and ``listener``, as in :meth:`change`.
        """
        return self.change(Change("add", {"classes": _plain(classes)}), **told)

    def label(self, more: Labels, **told: Any) -> Version:
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

    def relabel(self, classes: Labels, **told: Any) -> Version:
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

    def split(self, name: str, parts: Labels, **told: Any) -> Version:
        """Make one class several.

        Args:
            name: The class.
            parts: New class -> keys of its nodes. Labels of the old class that are in none go.
            told: As in :meth:`add`.
        """
        return self.change(Change("split", {"name": name, "parts": _plain(parts)}), **told)

    def change(
        self,
        change: Change,
        *,
        by: str | None = None,
        note: str = "",
        override: str = "",
        listener: Listener = SILENT,
    ) -> Version:
        """Make a version with other labels, unless it costs more than chance explains.

        Args:
            change: What is done to the labels.
            by: Who does it; None for the user that is logged in.
            note: Why.
            override: A reason for doing it although held-out nodes speak against it; it is written
                down.
            listener: Is told how far it is.
        """
        parent = self._journal.version()
        before = self._state(parent)
        after = self._changed(before, change, listener)
        seen = compare(before, after)
        objections = seen.objections()
        if objections and not override:
            raise GateError(
                " ".join(objections) + " Nothing was changed. To do it all the same, give a reason "
                "with override=… (on the command line --override REASON)."
            )
        measures = _measures(seen) | ({"override": override} if override else {})
        names = self._states.put(after, graph=parent.graph)
        return self._added(parent, change.action, change.detail, names, measures, by, note)

    def undo(self, version: int | None = None, *, by: str | None = None, note: str = "") -> Version:
        """Make a version without what one version did; its own labels and model come back.

        Args:
            version: Which one; None for the newest. Later changes of labels are done again on
                what is left.
            by: Who does it; None for the user that is logged in.
            note: Why.
        """
        newest = self._journal.version()
        undone = newest if version is None else self._journal.version(version)
        if undone.parent is None:
            raise StoreError("Version 1 is the first: there is nothing before it to go back to.")
        kept = self._journal.version(undone.parent)
        if undone.number == newest.number:
            names = StateNames(kept.graph, kept.labels, kept.model)
        else:
            names = self._without(undone, kept, newest)
        measures = {"after": kept.measures.get("after", {})} if undone == newest else {}
        return self._added(newest, "undo", {"version": undone.number}, names, measures, by, note)

    def _without(self, undone: Version, kept: Version, newest: Version) -> StateNames:
        later = [one for one in self._journal.versions() if one.number > undone.number]
        odd = [
            one
            for one in (undone, *later)
            if not changes_labels(one.action) and (one is undone or one.action != "grow")
        ]
        if odd:
            raise StoreError(
                f"Version {undone.number} cannot be undone by itself: version {odd[0].number} "
                f"({odd[0].action}) is no change of labels. Undo the versions after "
                f"{undone.number} first, newest first."
            )
        changes = {
            one.number: Change(one.action, one.detail) for one in later if one.action != "grow"
        }
        labels = replayed(self._state(kept).labels, changes, undone.number)
        state = self._state(newest).relabelled(labels)
        return self._states.put(state, graph=newest.graph)

    # The graph.

    def grow(
        self,
        nodes: Source = None,
        edges: Source = None,
        *,
        repair: bool = False,
        by: str | None = None,
        note: str = "",
    ) -> Version:
        """Make a version with more nodes and edges; what is known of classes follows the graph.

        Args:
            nodes: The table of new nodes; None if there are none.
            edges: The table of new edges; None if there are none.
            repair: Leave out what does not fit instead of refusing it.
            by: Who does it; None for the user that is logged in.
            note: Why.
        """
        parent = self._journal.version()
        before = self._state(parent)
        after = grown(before, self._tables(), nodes, edges, repair)
        more = table_changes(before.graph, after.graph, 0)
        names = StateNames(self._states.put(after).graph, parent.labels, parent.model)
        measures = _measures(compare(before, after))
        return self._added(parent, "grow", more.to_json(), names, measures, by, note)

    def sync(
        self,
        nodes: Source,
        edges: Source = None,
        *,
        repair: bool = False,
        by: str | None = None,
        note: str = "",
    ) -> Version:
        """Make a version with the nodes and edges of new whole tables, as they come every day.

        Nodes are compared by key: what is new comes, what is gone goes, and its labels with it.

        Args:
            nodes: The table of all nodes as they are now.
            edges: The table of all edges as they are now.
            repair: Leave out what does not fit instead of refusing it.
            by: Who does it; None for the user that is logged in.
            note: Why.
        """
        parent = self._journal.version()
        before = self._state(parent)
        after, changes = synced(before, self._tables(), nodes, edges, repair)
        measures = _measures(compare(before, after))
        names = self._states.put(after)
        return self._added(parent, "sync", changes.to_json(), names, measures, by, note)

    def _tables(self) -> dict[str, Any]:
        options: dict[str, Any] = self._journal.version(1).detail["tables"]
        return options

    # Which version answers.

    def promote(
        self, version: int | None = None, *, by: str | None = None, note: str = ""
    ) -> Promotion:
        """Let a version answer.

        Args:
            version: Which one; None for the candidate.
            by: Who does it; None for the user that is logged in.
            note: Why.
        """
        chosen = self._journal.version(version).number
        return self._promoted(chosen, "promote", by, note)

    def rollback(self, *, by: str | None = None, note: str = "") -> Promotion:
        """Let the version answer that answered before the champion.

        Args:
            by: Who does it; None for the user that is logged in.
            note: Why.
        """
        moves = self._journal.promotions()
        stack: list[int] = []
        for move in moves:
            if move.action == "rollback":
                stack.pop()
            else:
                stack.append(move.version)
        if len(stack) < 2:
            raise StoreError(
                f"No version answered before version {stack[-1]}: there is none to go back to."
            )
        return self._promoted(stack[-2], "rollback", by, note)

    def _promoted(self, version: int, action: str, by: str | None, note: str) -> Promotion:
        last = self._journal.promotions()[-1]
        if version == last.version:
            raise StoreError(f"Version {version} is the one that answers already.")
        move = Promotion(last.number + 1, version, action, _who(by), _writable(note), now())
        self._journal.add(promotion=move)
        return move

    def _changed(self, before: State, change: Change, listener: Listener) -> State:
        labels = change.applied(before.labels)
        if labels == before.labels:
            raise StoreError("This would change nothing: all of it is so already.")
        # Whatever does not fit is told here, with the names of the nodes.
        NodeLabels.by_key(before.graph, {name: one.all for name, one in labels.items()})
        return before.relabelled(labels, listener)

    def _added(
        self,
        parent: Version,
        action: str,
        detail: dict[str, Any],
        names: StateNames,
        measures: dict[str, Any],
        by: str | None,
        note: str,
    ) -> Version:
        version = Version(
            parent.number + 1,
            parent.number,
            action,
            detail,
            _who(by),
            _writable(note),
            now(),
            **vars(names),
            measures=measures,
        )
        self._journal.add(version)
        return version


def _refuse_taken(folder: Path) -> None:
    """Anything is left alone but an empty folder and a store whose making was cut."""
    if not folder.exists():
        return
    left = {path.name for path in folder.iterdir()} if folder.is_dir() else {folder.name}
    # Drafts that a killed process has left.
    left = {name for name in left if not name.startswith(".")}
    strange = left - {"objects", SETTINGS, *DATABASE_FILES}
    if strange or (SETTINGS in left and not _unfinished(folder)):
        raise StoreError(f"{folder} exists already: choose a new folder for the store.")
    (folder / SETTINGS).unlink(missing_ok=True)


def _unfinished(folder: Path) -> bool:
    try:
        StoreReader.open(folder).close()
    except UnfinishedStoreError:
        return True
    except StoreError:
        # Perhaps its database is away.
        return False
    return False


def _measures(seen: Preview) -> dict[str, Any]:
    return {
        "before": seen.before.to_json(),
        "after": seen.after.to_json(),
        "asked": seen.asked,
        "new": seen.new.to_json(),
        "flipped": seen.flipped,
    }


def _plain(classes: Labels) -> dict[str, list[Key]]:
    if not isinstance(classes, Mapping):
        raise ParameterError(
            f"Labels are a dict, class name -> list of node keys; a {type(classes).__name__} was "
            "given."
        )
    return {name: _plain_keys(keys) for name, keys in classes.items()}


def _plain_keys(keys: Iterable[Key]) -> list[Key]:
    # NumPy's numbers are no JSON. A single text is left for the change to refuse.
    if isinstance(keys, str):
        return keys  # type: ignore[return-value]
    return [key.item() if isinstance(key, np.generic) else key for key in keys]


def _writable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ParameterError(f"{text!r} is no text that can be written down: {error}.") from error
    return text


def _who(by: str | None) -> str:
    if by:
        return _writable(by)
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
