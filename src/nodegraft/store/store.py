"""Store of a model in production: each change makes a version that is checked and can be undone."""

from collections.abc import Iterable, Mapping
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.version import Promotion, Version
from nodegraft.base.errors import NodegraftError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.parameters.validate import validate_value
from nodegraft.base.tabular import Records
from nodegraft.graph.keys import Key
from nodegraft.store.intent import Intent
from nodegraft.store.label_changes import LabelChanges, LastFit, Refit
from nodegraft.store.maintenance.damage import refuse_damaged
from nodegraft.store.maintenance.pruning import KEEP, Pruned, prune
from nodegraft.store.model_cards import ModelCards
from nodegraft.store.objects.place import StoreSettings, journal_in, refuse_links, settings_in
from nodegraft.store.parts import SEVERAL_LABELS, NewTables, StoreParts
from nodegraft.store.reading.views import StoreViews
from nodegraft.store.undo import Undo
from nodegraft.store.versions.journal import Journal
from nodegraft.store.versions.migration import require_current

if TYPE_CHECKING:
    from nodegraft.analysis.card.card import Card
    from nodegraft.analysis.preview import Preview
    from nodegraft.analysis.results.maintenance import Migration, SettingValue
    from nodegraft.graph.graph import Graph
    from nodegraft.model.confidence import World
    from nodegraft.store.maintenance.purging import Purged
    from nodegraft.store.maintenance.verification import Verification
    from nodegraft.store.table_changes import TablePreview
    from nodegraft.store.table_updates import TableUpdates
    from nodegraft.store.versions.audit import AuditEntry
    from nodegraft.tables.class_parents import Parents
    from nodegraft.tables.columns import Source
    from nodegraft.tables.labels import Labels
    from nodegraft.tables.node_texts import NodeTexts


class Store(StoreViews):
    """Folder with a graph, its labels, a model, and all versions of them.

    Open a store with :meth:`open`, create one with :meth:`init`. Every change makes a version.
    Predictions come from the *live* version: only :meth:`promote` and :meth:`rollback` choose it.
    The newest version is the *candidate* while it waits for review, that is, differs from the live
    one. An interrupted change leaves either the version before it or the finished new version.

    Args:
        place: Folder of the store.
        journal: Database with the history of the store.
        listener: Receives progress events of long work.
        background_cards: See :meth:`open`.
    """

    has_several_labels: bool = False
    """Whether a node may have several labels; see :meth:`init`."""

    def __init__(
        self,
        place: Path,
        journal: Journal,
        listener: Listener = SILENT,
        background_cards: bool = False,
    ) -> None:
        self.place = place
        self.parts = StoreParts(place, journal, listener)
        """Database, files and settings, for code that serves or maintains the store."""
        self._labels = LabelChanges(self.parts)
        self._undo: Undo[Any] = self._labels
        self._cards = ModelCards(self.parts, background_cards)
        self.parts.versions.on_promotion = self._cards.write_promoted

    @cached_property
    def _tables(self) -> "TableUpdates":
        # Import here, because reading tables is slow to import, and many calls do not need it.
        from nodegraft.store.table_updates import TableUpdates

        return TableUpdates(self.parts)

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
        parents: "Parents | None" = None,
        several_labels: bool = False,
        intent: Intent = Intent(),
        listener: Listener = SILENT,
    ) -> "Store":
        """Create a store whose first version is live at once.

        Args:
            place: A folder that does not exist yet, or is empty.
            graph: Graph with all nodes and edges. A graph on disk (:func:`nodegraft.load_graph` of
                a folder that :func:`nodegraft.build_graph` wrote) stays on disk: the store uses its
                files.
            labels: Class name -> keys of its nodes; or a table with the columns ``key`` and
                ``label``; or a pandas Series with keys as index. Every method of a store that takes
                labels accepts these forms. If a class has ten labels or more, a fifth of them is
                held out to measure accuracy.
            method: Name of a method; the default adds new classes without training.
            parameters: Hyper-parameters of the method.
            tables: Options for reading tables (``key``, ``source``, ``target``, ``edge_type``,
                ``edge_weight``, ``directed``), which :meth:`grow` and :meth:`sync` use, too.
            texts: Text of each node for display: ``texts`` of :func:`nodegraft.read_tables`.
                Models do not use it.
            database: SQLAlchemy URL of the database for versions; None for an SQLite file in the
                folder.
            objects: fsspec URL for graphs, labels and models (``s3://bucket/shop``), which no
                other store may use. None for a subfolder of the folder.
            world: ``open`` if nodes may belong to unknown classes, ``closed`` if every node belongs
                to a known class. The meaning of confidence depends on it
                (:mod:`nodegraft.model.confidence`). The setting ``world`` changes it later. None
                for the ``world`` of ``parameters``; if that is missing, too, ``open`` for a method
                with an open-set score. A method without this score needs a closed world.
            parents: Parents of classes in the class tree; see :meth:`move`.
            several_labels: Whether a node may have several labels. The store then predicts a set of
                classes for each node with :class:`nodegraft.MultiLabel`, whose parameters
                ``parameters`` may give, and has some of the methods only; see the page on several
                classes per node. All labels are learned, none is held out.
            intent: Author and note.
            listener: Receives progress events of this call and of later calls of the store.
        """
        from nodegraft.store.creation import made_in
        from nodegraft.store.first_version import OneLabel, SeveralLabels
        from nodegraft.tables.class_parents import parents_by_class
        from nodegraft.tables.labels import keys_by_class

        folder = Path(place).expanduser()
        validate_value("several_labels", several_labels, bool)
        kind = SeveralLabels if several_labels else OneLabel
        options = dict(parameters or {})
        first = kind(
            keys_by_class(labels),
            method,
            options,
            world or options.get("world"),
            parents_by_class({} if parents is None else parents),
        )
        journal = made_in(
            folder,
            graph,
            first,
            tables=tables or {},
            texts=texts,
            settings=StoreSettings(database, objects),
            intent=intent,
            listener=listener,
        )
        return _kind_of(journal, cls)(folder, journal, listener)

    @classmethod
    def open(
        cls, place: str | Path, *, listener: Listener = SILENT, background_cards: bool = False
    ) -> Self:
        """Open the store in a folder.

        Args:
            place: Folder that :meth:`nodegraft.Store.init` created.
            listener: Receives progress events, such as :class:`nodegraft.PrintProgress`.
            background_cards: Whether a thread writes the model card of a promoted version, so that
                the promotion returns at once.
        """
        folder = Path(place).expanduser()
        settings = settings_in(folder)
        refuse_links(folder)
        journal = journal_in(folder, settings)
        try:
            require_current(journal)
            refuse_damaged(folder, journal)
            journal.version()
            return _kind_of(journal, cls)(folder, journal, listener, background_cards)
        except NodegraftError:
            journal.close()
            raise

    @staticmethod
    def migrate(place: str | Path) -> "Migration":
        """Migrate a store's database from an earlier release; an error leaves it unchanged.

        Args:
            place: The folder of the store.
        """
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

        Damage is recorded in the store, which cannot be opened until a later verification finds no
        damage.

        Args:
            place: The folder of the store.
            author: Author of the record; None for the logged-in user.
            listener: Receives progress events.
        """
        from nodegraft.store.maintenance.verification import Verifier

        return Verifier(Path(place).expanduser(), listener).run(author)

    def close(self) -> None:
        """Close the connection to the database."""
        self._cards.close()
        self.parts.journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(
        self,
        classes: "Labels",
        *,
        parent: str | None = None,
        force_name: bool = False,
        intent: Intent = Intent(),
    ) -> Version:
        """Add new classes.

        Args:
            classes: New class -> keys of its nodes.
            parent: Parent of the new classes in the class tree; see :meth:`move`.
            force_name: Allow a name that differs from another class name only by case or blanks.
            intent: See :meth:`change`.
        """
        detail = {"classes": classes} | ({} if parent is None else {"parent": parent})
        return self.change(Change.of("add", force_name, **detail), intent=intent)

    def move(
        self, parents: "Parents", *, force_name: bool = False, intent: Intent = Intent()
    ) -> Version:
        """Change the parents of classes in the class tree; labels and scores stay the same.

        A parent is a class, or a group: a name without labels of its own, which exists while there
        are classes below it. A prediction that lacks confidence becomes an ancestor
        (:meth:`predict`).

        Args:
            parents: Class or group -> its new parent, None for no parent; or a table with the
                columns ``class`` and ``parent``.
            force_name: See :meth:`add`.
            intent: See :meth:`change`.
        """
        return self.change(Change.of("move", force_name, parents=parents), intent=intent)

    def label(self, more: "Labels", *, intent: Intent = Intent()) -> Version:
        """Add labels to known classes.

        Args:
            more: Known class -> keys of nodes that have no label.
            intent: See :meth:`change`.
        """
        return self.change(Change.of("label", more=more), intent=intent)

    def unlabel(self, nodes: Iterable[Key], *, intent: Intent = Intent()) -> Version:
        """Remove labels.

        Args:
            nodes: Keys of labelled nodes.
            intent: See :meth:`change`.
        """
        return self.change(Change.of("unlabel", keys=nodes), intent=intent)

    def relabel(self, classes: "Labels", *, intent: Intent = Intent()) -> Version:
        """Change the class of labelled nodes.

        Args:
            classes: Known class -> keys of nodes that have a label of another class.
            intent: See :meth:`change`.
        """
        return self.change(Change.of("relabel", classes=classes), intent=intent)

    def remove(self, names: Iterable[str], *, intent: Intent = Intent()) -> Version:
        """Remove classes; their children in the class tree move to the class above.

        Args:
            names: Names of the classes or groups to remove.
            intent: See :meth:`change`.
        """
        return self.change(Change.of("remove", names=names), intent=intent)

    def rename(
        self, old: str, new: str, *, force_name: bool = False, intent: Intent = Intent()
    ) -> Version:
        """Rename a class or group.

        Args:
            old: Current name.
            new: New name.
            force_name: See :meth:`add`.
            intent: See :meth:`change`.
        """
        return self.change(Change.of("rename", force_name, old=old, new=new), intent=intent)

    def merge(
        self,
        names: Iterable[str],
        into: str,
        *,
        force_name: bool = False,
        intent: Intent = Intent(),
    ) -> Version:
        """Merge several classes into one.

        The merged class gets all children, and its parent is the lowest class above all of them.

        Args:
            names: Names of the classes.
            into: Name of the merged class.
            force_name: See :meth:`add`.
            intent: See :meth:`change`.
        """
        return self.change(Change.of("merge", force_name, names=names, into=into), intent=intent)

    def split(
        self, name: str, parts: "Labels", *, force_name: bool = False, intent: Intent = Intent()
    ) -> Version:
        """Split a class into several classes with the same parent.

        Args:
            name: Name of the class.
            parts: New class -> keys of its nodes. Labels that are assigned to no part are removed.
            force_name: See :meth:`add`.
            intent: See :meth:`change`.
        """
        return self.change(Change.of("split", force_name, name=name, parts=parts), intent=intent)

    def preview(self, change: Change) -> "Preview":
        """Compare the newest version with the result of a change, without writing anything.

        Args:
            change: Change of labels or classes.
        """
        return self._labels.preview(change)

    def change(self, change: Change, *, intent: Intent = Intent()) -> Version:
        """Make a version with changed labels, unless held-out accuracy drops by more than noise.

        Args:
            change: Change of labels or classes.
            intent: Author, note, reason to override the quality gate, and whether to make the
                version live at once.
        """
        return self._labels.change(change, intent)

    def fit_needed(self, change: Change) -> Refit | None:
        """Return the cost of fitting the method from scratch; None if a change does not need it.

        Args:
            change: Change of the newest version's labels.
        """
        return self._labels.fit_needed(change)

    def last_fit(self) -> LastFit:
        """Return how many labels the method was fitted on, and how many the newest version has."""
        return self._labels.last_fit()

    def preview_refit(
        self, encoder: str | Iterable[str] | None = None, nodes: "Source" = None
    ) -> "Preview":
        """Return what :meth:`refit` would change in the newest version; nothing is written.

        Args:
            encoder: See :meth:`refit`.
            nodes: See :meth:`refit`.
        """
        return self._labels.preview_refit(encoder, nodes)

    def refit(
        self,
        *,
        encoder: str | Iterable[str] | None = None,
        nodes: "Source" = None,
        intent: Intent = Intent(),
    ) -> Version:
        """Make a version whose method is fitted from scratch, on the current labels and graph.

        A method learns the weights of text, neighbours and position, and the calibration of
        confidence, when it is fitted; adding labels does not change them. After many more labels, a
        refit may raise accuracy. A refit can also replace a model that was written by an older
        nodegraft and cannot be read: held-out accuracy is then compared with the stored value.

        With another text encoder, all nodes are encoded again; labels and edges stay the same.

        Args:
            encoder: Text encoder, or several, as in :func:`nodegraft.read_tables`; None to keep the
                features.
            nodes: Table of nodes with their texts, which ``encoder`` needs because a store does not
                contain the full texts.
            intent: See :meth:`change`.
        """
        return self._labels.refit(encoder, nodes, intent)

    def undo(self, version: int | None = None, *, intent: Intent = Intent()) -> Version:
        """Make a version without the change of an earlier version.

        Args:
            version: Number of the version to undo; None for the newest. Later changes of labels
                are applied again.
            intent: Author, note and whether to make the version live at once, which is refused
                while a candidate waits for review, unless the restored version is live.
        """
        return self._undo.undo(version, intent)

    def discard(self, version: int | None = None, *, intent: Intent = Intent()) -> Version:
        """Make a version equal to the live one, without the changes that wait for review.

        The discarded versions stay in the history, and :meth:`undo` brings them back.

        Args:
            version: Expected number of the candidate; an error if another process has made a newer
                one meanwhile. None to discard any candidate.
            intent: Author and note.
        """
        return self._undo.discard(version, intent)

    def preview_grow(
        self,
        nodes: "Source" = None,
        edges: "Source" = None,
        *,
        repair: bool = False,
        tables: Mapping[str, Any] | None = None,
    ) -> "TablePreview":
        """Return what :meth:`grow` would change in the newest version; nothing is written.

        Args:
            nodes: See :meth:`grow`.
            edges: See :meth:`grow`.
            repair: See :meth:`grow`.
            tables: See :meth:`grow`.
        """
        return self._tables.preview_grow(NewTables(nodes, edges, repair, tables))

    def grow(
        self,
        nodes: "Source" = None,
        edges: "Source" = None,
        *,
        repair: bool = False,
        tables: Mapping[str, Any] | None = None,
        intent: Intent = Intent(),
    ) -> Version:
        """Make a version with more nodes and edges; the classes stay as they are.

        Args:
            nodes: The table of new nodes; None if there are none.
            edges: The table of new edges; None if there are none.
            repair: Whether to skip invalid rows instead of raising an error.
            tables: Names of columns (``key``, ``source`` …) if they differ from those in the tables
                that the store was created from.
            intent: Author, note and whether to make the version live at once, which is refused if
                held-out accuracy drops.
        """
        return self._tables.grow(NewTables(nodes, edges, repair, tables), intent)

    def preview_sync(
        self,
        nodes: "Source",
        edges: "Source" = None,
        *,
        repair: bool = False,
        tables: Mapping[str, Any] | None = None,
    ) -> "TablePreview":
        """Return what :meth:`sync` would change in the newest version; nothing is written.

        Args:
            nodes: See :meth:`sync`.
            edges: See :meth:`sync`.
            repair: See :meth:`sync`.
            tables: See :meth:`sync`.
        """
        return self._tables.preview_sync(NewTables(nodes, edges, repair, tables))

    def sync(
        self,
        nodes: "Source",
        edges: "Source" = None,
        *,
        repair: bool = False,
        tables: Mapping[str, Any] | None = None,
        intent: Intent = Intent(),
    ) -> Version:
        """Make a version whose nodes and edges are replaced by those of complete tables.

        Nodes are compared by key: new ones are added, missing ones are removed together with their
        labels. To protect against a truncated table, the change is refused if it removes more than
        ``max_removed_share`` (a setting, 10 % by default) of all nodes, edges or labels.

        Args:
            nodes: The table of all nodes as they are now.
            edges: The table of all edges as they are now. None keeps the edges between nodes that
                stay, with their types, weights and directions, and the nodes of types that only
                edges name; False removes all edges.
            repair: See :meth:`grow`.
            tables: See :meth:`grow`.
            intent: See :meth:`change`; ``override`` is the reason to remove more than the setting
                allows.
        """
        return self._tables.sync(NewTables(nodes, edges, repair, tables), intent)

    def promote(
        self, version: int | None = None, *, only_waiting: bool = False, intent: Intent = Intent()
    ) -> Promotion:
        """Make a version live, then write its model card into the store.

        An error in writing the card is logged and does not affect the promotion.

        Args:
            version: Number of the version; None for the candidate.
            only_waiting: Whether to refuse a version that is not waiting for review, for example
                because it was discarded or followed by a newer version meanwhile.
            intent: Author and note.
        """
        return self.parts.versions.promote(version, only_waiting, intent)

    def rollback(self, *, intent: Intent = Intent()) -> Promotion:
        """Make the previously live version live again.

        Args:
            intent: Author and note.
        """
        return self.parts.versions.rollback(intent)

    def settings(self) -> "Records[SettingValue]":
        """Return all settings with value, default and meaning."""
        return self.parts.settings.all()

    def setting(self, name: str) -> Any:
        """Return the value of one setting.

        Args:
            name: Name of the setting, for example ``max_removed_share``.
        """
        return self.parts.settings.value(name)

    def set_setting(self, name: str, value: Any, *, intent: Intent = Intent()) -> Any:
        """Change a setting for all hosts that use this store; return the new value.

        Args:
            name: Name of the setting.
            value: New value, or a string that is parsed.
            intent: Author and note, which :meth:`settings_history` shows.
        """
        return self.parts.settings.set(name, value, intent)

    def settings_history(self) -> "Records[AuditEntry]":
        """Return all changes of settings, oldest first."""
        return self.parts.settings.history()

    def prune(
        self, keep: int = KEEP, *, dry_run: bool = False, intent: Intent = Intent()
    ) -> Pruned:
        """Delete the files of old versions; their rows stay in the history.

        The newest versions, the live version and the last live versions before it are kept.
        Leftover files of killed processes are deleted if they are older than an hour.

        Args:
            keep: How many of the newest versions to keep, and how many of the previously live ones,
                to which :meth:`rollback` can return.
            dry_run: Whether to report what would be deleted, and to delete nothing.
            intent: Author and note.
        """
        return prune(self.parts, keep, dry_run, intent)

    def purge(self, nodes: Iterable[Key], *, intent: Intent = Intent()) -> "Purged":
        """Delete nodes permanently: their keys, features, edges and labels, in all versions.

        The live version and the newest one are refitted without them. All earlier versions are
        pruned, and their history no longer names the nodes. This cannot be undone.

        Args:
            nodes: Keys of nodes, of the current graph or of an older one.
            intent: Author and note; the keys of the nodes are removed from the note.
        """
        from nodegraft.store.maintenance.purging import purge

        return purge(self.parts, nodes, intent)

    def card(self, version: int | None = None) -> "Card":
        """Return the model card of a version: classes, labels, held-out accuracy and history.

        Args:
            version: Number of the version; None for the live version.
        """
        return self._cards.card(self.live if version is None else version)

    def card_path(self, version: int | None = None) -> Path:
        """Return the path of a version's model card in the store, whether or not the card exists.

        Args:
            version: Number of the version; None for the live version.
        """
        return self._cards.path(self.live if version is None else version)

    def write_card(self, version: int | None = None) -> Path:
        """Write the model card of a version into the store, unless it exists; return its path.

        :meth:`promote` and every change with ``promote=True`` write the card automatically.

        Args:
            version: Number of the version; None for the live version.
        """
        return self._cards.write(self.live if version is None else version)


S = TypeVar("S", bound=Store)


def _kind_of(journal: Journal, store: type[S]) -> type[S]:
    """Return the class of a store: a subclass if nodes may have several labels."""
    if not journal.version(1).detail.get(SEVERAL_LABELS):
        return store
    from nodegraft.store.several_labels import SeveralLabelsStore

    return cast("type[S]", SeveralLabelsStore)
