"""Notebook views of a store: its summary, tables of classes and labels, and plots."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from nodegraft.analysis.version import Version, describe_version
from nodegraft.base.counting import listed
from nodegraft.base.errors import ParameterError, StoreError
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.base.tabular import ColumnTable, Records, summary_html
from nodegraft.store.reading.reads import StoreReads

if TYPE_CHECKING:
    from nodegraft.analysis.learning_curve import CurvePoint
    from nodegraft.analysis.rendering.drawing import Axes
    from nodegraft.tables.labels import Labels


class StoreViews(StoreReads):
    """Summary, tables and plots for notebooks, inherited by :class:`nodegraft.Store`.

    Plots need Matplotlib (``pip install nodegraft[plots]``). Each plot is drawn into ``ax``, or
    into a new pyplot figure, and returns the axes.
    """

    def classes(self, version: int | None = None) -> ColumnTable:
        """Return a table of the classes with numbers of training labels and held-out labels.

        The column ``session`` is 0 for the classes of ``init``, 1 for the classes of the first
        change that added classes, and so on. If there is a class tree, there is a column
        ``parent``, and groups are rows without labels and session.

        Args:
            version: Number of the version; None for the newest.
        """
        labels = self.parts.states.labels(self.parts.versions.whole(version).labels)
        names, training, held_out = [*labels, *labels.groups], labels.training, labels.held_out
        sessions = labels.sessions
        columns: dict[str, list[object]] = {
            "class": [*names],
            "labels": [len(training.get(name, ())) for name in names],
            "held_out": [len(held_out.get(name, ())) for name in names],
            "session": [sessions.get(name) for name in names],
        }
        if labels.tree:
            columns["parent"] = [labels.tree.get(name) for name in names]
        return ColumnTable(columns)

    def labels(self, version: int | None = None) -> ColumnTable:
        """Return a table of the labels: node, label, and whether the node is held out.

        Args:
            version: Number of the version; None for the newest.
        """
        labels = self.parts.states.labels(self.parts.versions.whole(version).labels)
        rows = [
            (key, name, is_held_out)
            for name, own in labels.items()
            for keys, is_held_out in ((own.training, False), (own.held_out, True))
            for key in keys
        ]
        names = ("node", "label", "held_out")
        return ColumnTable({name: [row[place] for row in rows] for place, name in enumerate(names)})

    def learning_curve(
        self, sizes: Sequence[int] | None = None, version: int | None = None
    ) -> "Records[CurvePoint]":
        """Return held-out accuracy by number of training labels per class.

        For each number, the method is fitted from scratch.

        Args:
            sizes: Maximum numbers of training labels per class; None for 2, 5, 10, 20 … and all.
            version: Number of the version; None for the live version.
        """
        from nodegraft.analysis.learning_curve import learning_curve

        return Records(learning_curve(self.state(version), sizes, self.parts.listener))

    def plot_confusion(
        self,
        labels: "Labels | None" = None,
        version: int | None = None,
        *,
        most: int = 16,
        ax: "Axes | None" = None,
    ) -> "Axes":
        """Plot the confusion matrix: correct predictions in blue, mistakes in vermilion.

        Args:
            labels: True class -> keys of its nodes, or labels in another supported form; None for
                the held-out nodes of the version.
            version: Number of the version; None for the live version.
            most: Maximum number of classes with their own row; the least confused classes share a
                row.
            ax: Axes to draw into; None for a new figure.
        """
        from nodegraft.analysis.rendering.class_plots import confusion_size, draw_confusion
        from nodegraft.analysis.rendering.drawing import draw_on

        validate_value("most", most, PositiveInt)
        matrix = self._labelled(labels, version).confusion
        size = confusion_size(matrix, most)
        return draw_on(ax, size, partial(draw_confusion, matrix=matrix, most=most))

    def plot_recall(
        self,
        labels: "Labels | None" = None,
        version: int | None = None,
        *,
        most: int = 24,
        ax: "Axes | None" = None,
    ) -> "Axes":
        """Plot recall of each class with its 95 % interval, the lowest first.

        Args:
            labels: See :meth:`plot_confusion`.
            version: Number of the version; None for the live version.
            most: Maximum number of classes in the plot.
            ax: Axes to draw into; None for a new figure.
        """
        from nodegraft.analysis.rendering import drawing, plots

        validate_value("most", most, PositiveInt)
        recalls = self._labelled(labels, version).by_class
        size = plots.recall_size(recalls, most)
        return drawing.draw_on(ax, size, lambda axes: plots.draw_recall(axes, recalls, most))

    def plot_calibration(
        self,
        labels: "Labels | None" = None,
        version: int | None = None,
        *,
        ax: "Axes | None" = None,
    ) -> "Axes":
        """Plot accuracy against predicted probability (reliability diagram).

        Args:
            labels: See :meth:`plot_confusion`.
            version: Number of the version; None for the live version.
            ax: Axes to draw into; None for a new figure.
        """
        from nodegraft.analysis.rendering import drawing, plots

        bins = self._labelled(labels, version).calibration
        return drawing.draw_on(ax, plots.SIZE, lambda axes: plots.draw_calibration(axes, bins))

    def plot_history(self, *, ax: "Axes | None" = None) -> "Axes":
        """Plot held-out accuracy by version with 95 % intervals.

        Filled markers show versions that are or were live.

        Args:
            ax: Axes to draw into; None for a new figure.
        """
        from nodegraft.analysis.rendering import drawing, plots

        counts = {row.number: row.held_out for row in self.parts.journal.versions()}
        if not any(count.total for count in counts.values()):
            raise StoreError(
                "No version has a held-out node, so there is no accuracy to plot: a store holds "
                "out labels where a class has ten or more."
            )
        live = [row.version for row in self.parts.journal.promotions()]
        return drawing.draw_on(ax, plots.SIZE, lambda axes: plots.draw_history(axes, counts, live))

    def plot_learning_curve(
        self,
        sizes: Sequence[int] | None = None,
        version: int | None = None,
        *,
        ax: "Axes | None" = None,
    ) -> "Axes":
        """Plot :meth:`learning_curve`, which shows whether more labels may raise accuracy.

        Args:
            sizes: See :meth:`learning_curve`; each number needs a fit from scratch.
            version: Number of the version; None for the live version.
            ax: Axes to draw into; None for a new figure.
        """
        from nodegraft.analysis.rendering import drawing, plots

        counts = {
            point.labels_of_a_class: point.count for point in self.learning_curve(sizes, version)
        }
        return drawing.draw_on(ax, plots.SIZE, lambda axes: plots.draw_learning_curve(axes, counts))

    def plot_map(
        self,
        version: int | None = None,
        *,
        classes: Sequence[str] | None = None,
        ax: "Axes | None" = None,
    ) -> "Axes":
        """Plot a map of nodes, in which nodes with similar embeddings are close together.

        Args:
            version: Number of the version; None for the live version.
            classes: Classes to draw in colour; there are eight colours. None for the newest and the
                most frequent classes.
            ax: Axes to draw into; None for a new figure.
        """
        from nodegraft.analysis.node_map import coloured_map
        from nodegraft.analysis.rendering.class_plots import MAP_SIZE, draw_map
        from nodegraft.analysis.rendering.drawing import draw_on

        places, names, first = coloured_map(self.state(version))
        if classes is not None and (unknown := [name for name in classes if name not in first]):
            raise ParameterError(f"classes={unknown} are no classes of this version.")
        draw = partial(draw_map, places=places, classes=names, first=classes or first)
        return draw_on(ax, MAP_SIZE, draw)

    def __repr__(self) -> str:
        return f"Store({str(self.place)!r})"

    def _repr_html_(self) -> str:
        parts, heads = self.parts, self.parts.journal.heads()
        live = heads.live
        waiting = [("candidate version", _named(heads.candidate))] if heads.candidate else []
        labels = parts.states.labels(live.labels)
        counts = [f"{name} {len(own.all):,}" for name, own in labels.items()]
        facts = [
            ("live version", _named(live)),
            *waiting,
            ("held-out accuracy", str(live.held_out)),
            ("method", parts.states.unlearned(live.names).model.name),
            ("world", parts.settings.world),
            ("classes", f"{len(labels)}"),
            ("labels", f"{sum(len(own.all) for own in labels.values()):,}: {listed(counts)}"),
            *parts.states.graph(live.graph).facts(),
        ]
        return summary_html(f"Store {self.place.name}", facts)


def _named(version: Version) -> str:
    return f"{version.number}: {describe_version(version)}"
