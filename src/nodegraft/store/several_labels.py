"""Store whose nodes may have several labels: the methods that it has, and a refusal of others."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodegraft.analysis.label_sets.preview import SetPreview
from nodegraft.analysis.label_sets.state import LabelSetState, SetPredictions
from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.version import Version, describe_version
from nodegraft.base.errors import SeveralLabelsError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.tabular import ColumnTable, summary_html
from nodegraft.graph.keys import Key
from nodegraft.methods.multi_label.labels import LabelSets
from nodegraft.store.intent import Intent
from nodegraft.store.label_set_changes import LabelSetChanges
from nodegraft.store.parts import NewTables
from nodegraft.store.store import Store
from nodegraft.store.versions.journal import Journal

if TYPE_CHECKING:
    from nodegraft.analysis.predictions import Missing
    from nodegraft.tables.columns import Source
    from nodegraft.tables.labels import Labels

INHERITED = (
    "candidate",
    "change",
    "close",
    "discard",
    "graph",
    "grow",
    "has_several_labels",
    "history",
    "init",
    "key_column",
    "label",
    "live",
    "migrate",
    "newest",
    "open",
    "promote",
    "promotions",
    "prune",
    "pruned",
    "remove",
    "rename",
    "rollback",
    "search",
    "table_options",
    "texts",
    "undo",
    "verify",
    "version",
    "waiting",
)
"""Methods and properties of :class:`Store` that do not depend on how many labels a node has."""


class SeveralLabelsStore(Store):
    """Store whose nodes may have several labels; every other method of a store is refused.

    There is no quality gate: labels are not held out, so a preview shows how many nodes gain or
    lose each class, and no accuracy. A promoted version has no model card.
    """

    has_several_labels = True

    def __init__(
        self,
        place: Path,
        journal: Journal,
        listener: Listener = SILENT,
        background_cards: bool = False,
    ) -> None:
        super().__init__(place, journal, listener, background_cards)
        self.parts.versions.on_promotion = lambda number: None
        # The inherited methods of `INHERITED` make changes by these.
        self._undo = self._sets = LabelSetChanges(self.parts)
        self._labels = self._sets  # type: ignore[assignment]

    @cached_property
    def _tables(self) -> LabelSetChanges:  # type: ignore[override]
        return self._sets

    def state(self, version: int | None = None) -> LabelSetState:  # type: ignore[override]
        """Return graph, labels and model of a version.

        Args:
            version: Number of the version; None for the live version.
        """
        number = self.live if version is None else version
        return self.parts.label_set_state(self.version(number))

    def predict(  # type: ignore[override]
        self,
        nodes: Sequence[Key] | None = None,
        *,
        version: int | None = None,
        missing: "Missing" = "error",
        ignore_labels: bool = False,
        **others: Any,
    ) -> SetPredictions:
        """Return the classes of each node: its labels, and every class that reaches its threshold.

        Args:
            nodes: Keys of nodes; None for all.
            version: Number of the version; None for the live version.
            missing: Treatment of keys that the graph does not have: ``error`` raises an error
                that names them, ``skip`` leaves them out, ``null`` gives a node without classes.
            ignore_labels: Whether to leave out labels that are not predicted.
            others: Other arguments of :meth:`Store.predict`, which are not supported here.
        """
        inspect.signature(Store.predict).bind(self, **others)
        for name, value in others.items():
            if value is not None:
                raise SeveralLabelsError(f"The argument {name!r} of Store.predict")
        number = self.live if version is None else version
        return self.state(number).predict_keys(nodes, number, missing, ignore_labels)

    def classes(self, version: int | None = None) -> ColumnTable:
        """Return a table of the classes with numbers of labels.

        Args:
            version: Number of the version; None for the newest.
        """
        labels = self._labels_of(version)
        counts = [int(keys.size) for keys in labels.values()]
        return ColumnTable({"class": list(labels), "labels": counts})

    def labels(self, version: int | None = None) -> ColumnTable:
        """Return a table of the labels with a row for each node and class.

        Args:
            version: Number of the version; None for the newest.
        """
        rows = [(key, name) for name, keys in self._labels_of(version).items() for key in keys]
        return ColumnTable({"node": [row[0] for row in rows], "label": [row[1] for row in rows]})

    def add(  # type: ignore[override]
        self, classes: "Labels", *, force_name: bool = False, intent: Intent = Intent()
    ) -> Version:
        """Add new classes.

        Args:
            classes: New class -> keys of its nodes.
            force_name: Allow a name that differs from another class name only by case or blanks.
            intent: See :meth:`change`.
        """
        return self.change(Change.of("add", force_name, classes=classes), intent=intent)

    def unlabel(self, labels: "Labels", *, intent: Intent = Intent()) -> Version:
        """Remove labels; other classes of these nodes stay.

        Args:
            labels: Known class -> keys of its labels to remove.
            intent: See :meth:`change`.
        """
        return self.change(Change.of("unlabel", labels=labels), intent=intent)

    def fit_needed(self, change: Change) -> None:
        """Return None: no change of labels needs a fit from scratch.

        Args:
            change: Change of labels or classes.
        """

    def preview(self, change: Change) -> SetPreview:  # type: ignore[override]
        """Count the nodes that would gain or lose each class, without writing anything.

        Args:
            change: Change of labels or classes.
        """
        return self._sets.preview(change)

    def preview_grow(  # type: ignore[override]
        self,
        nodes: "Source" = None,
        edges: "Source" = None,
        *,
        repair: bool = False,
        tables: Mapping[str, Any] | None = None,
    ) -> SetPreview:
        """Count the old nodes that would gain or lose each class; nothing is written.

        Args:
            nodes: See :meth:`grow`.
            edges: See :meth:`grow`.
            repair: See :meth:`grow`.
            tables: See :meth:`grow`.
        """
        return self._sets.preview_grow(NewTables(nodes, edges, repair, tables))

    def _labels_of(self, version: int | None) -> LabelSets:
        return self.parts.states.label_sets(self.parts.versions.whole(version).labels)

    def _repr_html_(self) -> str:
        heads = self.parts.journal.heads()
        labels = self.parts.states.label_sets(heads.live.labels)
        waiting = [("candidate version", heads.candidate)] if heads.candidate else []
        versions = [("live version", heads.live), *waiting]
        facts = [
            *((name, f"{row.number}: {describe_version(row)}") for name, row in versions),
            ("classes", f"{len(labels)}"),
            ("labels", f"{labels.num_labels:,}, several per node"),
            *self.parts.states.graph(heads.live.graph).facts(),
        ]
        return summary_html(f"Store {self.place.name}", facts)


def _refusal(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise SeveralLabelsError(f"Store.{name}")

    refuse.__name__, refuse.__doc__ = name, "Raise an error: this is not supported here."
    return refuse


# Whatever is added to `Store` later is refused until it is listed or overridden here.
for _name, _member in inspect.getmembers(Store):
    if not _name.startswith("_") and _name not in {*INHERITED, *vars(SeveralLabelsStore)}:
        _refused = _refusal(_name)
        setattr(
            SeveralLabelsStore,
            _name,
            property(_refused) if isinstance(_member, property) else _refused,
        )
