"""Public interface of a method: fit, add classes, predict, save, load."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import DataError, NotFittedError, NotSupportedError, ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.measure import Measurement
from nodegraft.base.parameters.constraints import Fraction, OpenFraction
from nodegraft.base.parameters.validate import validate, validate_value
from nodegraft.base.tensors import is_tensor
from nodegraft.graph.edges.matrix import IntArray, Matrix, row_numbers
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.keys import Key, several
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.model.best_classes import BestClasses, best_in_blocks, classes_above
from nodegraft.model.class_table import ClassTable
from nodegraft.model.confidence import PredictionTable, confidence, share_note
from nodegraft.model.hooks import Capability
from nodegraft.model.learned import GraphInputs, learned_kinds
from nodegraft.model.prediction_sets import PredictionSets, SetCalibration, calibrate
from nodegraft.model.stateful import Stateful
from nodegraft.streams.curriculum import Curriculum
from nodegraft.tables.labels import Labels, keys_by_class
from nodegraft.tables.new_rows import Row, rows_view


@dataclass(frozen=True)
class AddReport:
    """Report of :meth:`nodegraft.Method.add_classes`."""

    classes: tuple[str, ...]
    """Names of the added classes."""

    session: int
    """Number of the session: 1 for the first increment after ``fit``."""

    seconds: float
    """Duration in seconds."""

    peak_bytes: int
    """Increase of resident memory during the change; 0 if it cannot be measured."""

    kept_bytes: int
    """Size of the learned state of all classes after the change."""


@dataclass(kw_only=True)
class Method(Stateful):
    """Public interface of all methods: fit, add classes, predict, save.

    The author of a method implements only :class:`Hooks`. A change is made on a copy, which then
    replaces the state by one assignment. So reads are safe while another thread writes: every
    prediction comes from the model before or after the change.
    """

    # The following methods change the model.

    def fit(
        self,
        graph: GraphView,
        labels: Labels | Curriculum,
        *,
        listener: Listener = SILENT,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Fit the first classes, replacing all learned state; on an error nothing changes.

        Args:
            graph: The graph, or a view of it.
            labels: Class name -> keys of its nodes; or a table or pandas Series, which all methods
                accept as labels; or a curriculum.
            listener: Receives progress events.
            checkpoint: File that the state of training is written to every 50 gradient steps. If
                it exists, training resumes from it, with the result of an uninterrupted fit. Only
                methods that train a network have checkpoints.
        """
        validate(self)
        validate_value("checkpoint", checkpoint, str | Path | None)
        if checkpoint is not None and not self.has_checkpoints:
            raise ParameterError(
                f"{self.name} does not train a network, so it has no checkpoints: omit checkpoint."
            )
        with self._change(listener) as draft:
            if checkpoint is not None:
                vars(draft)["_checkpoint"] = Path(checkpoint).expanduser().resolve()
            for name in learned_kinds(type(self)):
                vars(draft).pop(name, None)
            _check_graph(graph)
            if not isinstance(labels, Curriculum):
                labels = Curriculum.from_labels(_by_row(graph, labels))
            graph.positions(labels.train.rows())
            table = ClassTable().add(labels.train.counts(), session=0)
            keys = KeyedLabels({}).extended(KeyedLabels.of(labels.train, graph))
            draft._start(GraphInputs.of(graph), keys)
            draft.learn_base(graph, labels)
            draft._know(table, keys)
        return self

    def add_classes(
        self, graph: GraphView, labels: Labels, *, listener: Listener = SILENT
    ) -> AddReport:
        """Add classes from a few labelled nodes each; on an error nothing changes.

        Args:
            graph: The graph, or a view of it; it may have grown since ``fit``.
            labels: New class -> keys of its labelled nodes.
            listener: Receives progress events.
        """
        with self._change(listener) as draft:
            draft._check(graph)
            support = _by_row(graph, labels)
            draft.require_same_labels(graph, support)
            session = draft._table.session + 1
            table = draft._table.add(support.counts(), session)
            keys = draft.labels_.extended(KeyedLabels.of(support, graph))
            draft.labels_ = keys
            with Measurement() as work:
                draft.learn_classes(graph, support)
            draft._know(table, keys)
            model_bytes = draft.kept_bytes()
        return AddReport(support.classes, session, work.seconds, work.peak_bytes, model_bytes)

    def add_labels(self, graph: GraphView, labels: Labels, *, listener: Listener = SILENT) -> None:
        """Add labels to known classes, if the method supports it.

        Args:
            graph: The graph, or a view of it.
            labels: Known class -> keys of more of its nodes.
            listener: Receives progress events.
        """
        with self._change(listener) as draft:
            draft._check(graph)
            support = _by_row(graph, labels)
            table, columns = draft._table.extend(support.counts())
            keys = draft.labels_.extended(KeyedLabels.of(support, graph))
            draft.labels_ = keys
            draft.learn_labels(graph, support, columns)
            draft._know(table, keys)

    def set_labels(
        self,
        graph: GraphView,
        labels: Labels,
        sessions: Mapping[str, int],
        *,
        listener: Listener = SILENT,
    ) -> None:
        """Replace all classes and labels by new ones, if the method supports it.

        The resulting state does not depend on the labels before. Other fitted parameters, such as
        weights, are kept.

        Args:
            graph: The graph, or a view of it.
            labels: Class name -> keys of its nodes.
            sessions: Class name -> number of the session that added it; 0 for the first classes.
            listener: Receives progress events.
        """
        with self._change(listener) as draft:
            draft._check(graph)
            by_row = _by_row(graph, labels)
            table = ClassTable()
            for name, count in by_row.counts().items():
                table = table.add({name: count}, sessions[name])
            draft.labels_ = KeyedLabels({}).extended(KeyedLabels.of(by_row, graph))
            draft.relearn(graph)
            draft._know(table, draft.labels_)

    def remove_classes(self, names: Iterable[str]) -> None:
        """Remove classes by name, if the method supports it.

        Args:
            names: Names of the classes to remove.
        """
        removed_names = several(names, "class names")
        with self._change(SILENT) as draft:
            table, kept_columns = draft._table.remove(removed_names)
            draft.keep_classes(kept_columns)
            draft._know(table, draft.labels_.select(table.names))

    def rename_classes(self, names: Mapping[str, str]) -> None:
        """Rename known classes; scores do not change.

        Args:
            names: Known class -> its new name. After renaming, all names must be different.
        """
        with self._change(SILENT) as draft:
            table = draft._table.rename(names)
            for name in learned_kinds(type(draft)):
                value = vars(draft).get(name)
                if isinstance(value, KeyedLabels):
                    setattr(draft, name, value.renamed(names))
            draft.rename_learned(names)
            draft._know(table, draft.labels_)

    # Predictions.

    def predict(
        self,
        graph: GraphView,
        nodes: Sequence[Key] | None = None,
        *,
        rows: Iterable[Row] | None = None,
    ) -> list[str]:
        """Return the likeliest class of each node, or of each new row outside the graph.

        New rows are not stored. Each is scored independently of the others, and does not affect
        its neighbours or the classes (:func:`nodegraft.tables.new_rows.rows_view`).

        Args:
            graph: The graph, or a view of it; for new rows it must be the whole graph.
            nodes: Keys of nodes; None with ``rows``.
            rows: New rows: each has its columns, and ``edges``, a list such as
                ``[{"type": "needs", "target": "react"}]``; None with ``nodes``.
        """
        model = self._now()
        names = np.array(model.classes_, dtype=object)
        view, places, _ = _chosen(graph, nodes, rows)
        predicted: list[str] = names[model._score_rows(view, places).argmax(axis=1)].tolist()
        return predicted

    def predict_all(self, graph: GraphView, top: int = 1) -> Iterator[BestClasses]:
        """Yield the top classes of every classified node, in blocks of nodes.

        Only one block is in memory at a time. All blocks come from the current state of the model,
        even if it changes during the iteration.

        Args:
            graph: The graph, or a view of it.
            top: Number of classes for each node, likeliest first.
        """
        model = self._now()
        model._check(graph)
        return best_in_blocks(model, graph, graph.targets, top)

    def predict_or_abstain(
        self, graph: GraphView, nodes: Sequence[Key], min_confidence: float = 0.9
    ) -> list[str | None]:
        """Return the likeliest class of each node, or None if its confidence is too low.

        Confidence is defined as in :meth:`predict_table`: in an open world it includes the
        probability that the node belongs to any known class, unless the model does not estimate it
        (``known`` is NaN). Only methods with calibrated probabilities can abstain, because an
        uncalibrated 0.9 means little.

        Args:
            graph: The graph, or a view of it.
            nodes: Keys of nodes.
            min_confidence: Minimum confidence of a prediction, between 0 and 1.
        """
        if Capability.CALIBRATED not in self.capabilities():
            raise NotSupportedError(self.name, Capability.CALIBRATED)
        validate_value("min_confidence", min_confidence, Fraction)
        model = self._now()
        scores = model._scores(graph, nodes)
        confident = model.confidence(graph, scores) >= min_confidence
        names = np.array([*model.classes_, None], dtype=object)
        predicted: list[str | None] = names[np.where(confident, scores.argmax(axis=1), -1)].tolist()
        return predicted

    def predict_table(
        self,
        graph: GraphView,
        nodes: Sequence[Key] | None = None,
        *,
        rows: Iterable[Row] | None = None,
    ) -> PredictionTable:
        """Return a table of ``prediction``, ``confidence``, ``probability`` and ``known``.

        It has one row for each node or new row. :mod:`nodegraft.model.confidence` defines the three
        numbers.

        Args:
            graph: As in :meth:`predict`.
            nodes: As in :meth:`predict`.
            rows: As in :meth:`predict`.
        """
        model = self._now()
        view, places, listed = _chosen(graph, nodes, rows)
        scores = model._score_rows(view, places)
        names = np.array(model.classes_, dtype=object)
        return PredictionTable(
            listed,
            names[scores.argmax(axis=1)].tolist(),
            model.probabilities(view, scores).max(axis=1),
            model.known_class_probability(view, scores),
            model.world,
        )

    def predict_sets(
        self,
        graph: GraphView,
        nodes: Sequence[Key],
        coverage: float = 0.9,
        *,
        held_out: Labels | None = None,
    ) -> PredictionSets:
        """Return sets of classes that contain a node's class with about the probability `coverage`.

        This holds for nodes of known classes that are distributed like the labels (conformal
        prediction, :mod:`nodegraft.model.prediction_sets`). The first call computes five models,
        each from four fifths of the labels; the result is cached until labels or graph change.

        Args:
            graph: The graph, or a view of it.
            nodes: Keys of nodes.
            coverage: Share of nodes whose set must contain their class, between 0 and 1.
            held_out: Class name -> keys of held-out nodes, which are not labels of the model, for
                calibration. Classes without held-out nodes are calibrated on their own labels. A
                method that cannot leave out labels without a new fit requires held-out nodes.
        """
        model = self._now()
        validate_value("coverage", coverage, OpenFraction)
        scores = model._scores(graph, nodes)
        calibration = model.calibrate_sets(graph, held_out)
        sets = classes_above(
            model.probabilities(graph, scores), calibration.thresholds(coverage), model.classes_
        )
        return PredictionSets(list(nodes), sets, coverage, calibration)

    def calibrate_sets(
        self, graph: GraphView, held_out: Labels | None = None, *, listener: Listener = SILENT
    ) -> SetCalibration:
        """Return the calibration that :meth:`predict_sets` uses; it is valid for any coverage.

        Args:
            graph: The graph, or a view of it.
            held_out: Class name -> keys of held-out nodes, which are not labels of the model; None
                to calibrate on the labels.
            listener: Receives progress events.
        """
        model = self._now()
        model._check(graph)
        if held_out is not None:
            return calibrate(model, graph, _by_row(graph, held_out), listener)
        return model._set_calibration.get(
            (graph, model.labels_), lambda: calibrate(model, graph, NodeLabels({}), listener)
        )

    def _with_labels(self, graph: GraphView, labels: KeyedLabels) -> Self:
        """Return a copy of this model that learned the same classes from other labels."""
        other = self._trial()
        sessions = {known.name: known.session for known in self._table.classes}
        other.set_labels(graph, labels.on(graph), sessions)
        return other

    def predict_proba(self, graph: GraphView, nodes: Sequence[Key]) -> NDArray[np.float64]:
        """Return P(class | the node belongs to a known class): nodes x classes.

        Columns are in the order of ``classes_``; every row adds up to 1. :meth:`predict_table` has
        this ``probability`` of the likeliest class, and also ``known`` and ``confidence``.

        Args:
            graph: The graph, or a view of it.
            nodes: Keys of nodes.
        """
        model = self._now()
        return model.probabilities(graph, model._scores(graph, nodes))

    def embed(self, graph: GraphView, nodes: Sequence[Key]) -> Matrix:
        """Return the embedding of each node: the vector from which its scores are computed.

        Args:
            graph: The graph, or a view of it.
            nodes: Keys of nodes.
        """
        model = self._now()
        model._check(graph)
        rows, place = np.unique(graph.rows_of(nodes), return_inverse=True)
        vectors = model.embedding(graph, rows)
        return (vectors.detach().numpy() if is_tensor(vectors) else vectors)[place]

    def explain(self, graph: GraphView, node: Key) -> dict[str, Any]:
        """Explain the prediction for a node.

        Args:
            graph: The graph, or a view of it.
            node: Key of the node.

        Returns:
            The method's explanation, with ``confidence``, ``probability``, ``known`` and ``world``
            as in :meth:`predict_table`; ``known`` is None without an open-set score.
            ``share_of_known_classes`` is the estimated share of unlabelled nodes that belong to
            known classes, or None. ``note`` is a text if this estimate changes the confidence by
            more than a factor of two, or if the open-set score is missing in an open world; else
            None.
        """
        model = self._now()
        model._check(graph)
        rows = graph.targets_of([node])
        explanation = model.explain_node(graph, int(rows[0]))
        scores = model._score_rows(graph, rows)
        probability = model.probabilities(graph, scores).max(axis=1)
        known = model.known_class_probability(graph, scores)
        share = model.share_of_known_classes(graph)
        return {
            **explanation,
            "confidence": float(confidence(probability, known, model.world)[0]),
            "probability": float(probability[0]),
            "known": None if np.isnan(known[0]) else float(known[0]),
            "world": model.world,
            "share_of_known_classes": share,
            "note": share_note(float(probability[0]), float(known[0]), share, model.world),
        }

    def score_rows(self, view: GraphView, rows: IntArray) -> NDArray[np.float64]:
        """Return scores by row number, computed in blocks of bounded size.

        Args:
            view: Visible part of the graph.
            rows: Row numbers of nodes, in any order.
        """
        return self._now()._score_rows(view, rows)

    def _check(self, graph: GraphView) -> None:
        if not len(self._table):
            raise NotFittedError(self.name)
        _check_graph(graph)
        self._inputs.check(graph)

    def _scores(self, graph: GraphView, nodes: Sequence[Key]) -> NDArray[np.float64]:
        self._check(graph)
        return self._score_rows(graph, graph.targets_of(nodes))

    def _score_rows(self, view: GraphView, rows: IntArray) -> NDArray[np.float64]:
        self._check(view)
        numbers = row_numbers(rows)
        in_order = bool((np.diff(numbers) > 0).all())
        unique, place = (numbers, numbers) if in_order else np.unique(numbers, return_inverse=True)
        view.positions(unique)
        scores = np.empty((unique.size, len(self.classes_)), dtype=np.float64)
        for start in range(0, unique.size, self.block_rows):
            block = unique[start : start + self.block_rows]
            scored = self.score(view, block)
            values = scored.detach().numpy() if is_tensor(scored) else scored
            if values.shape != (block.size, len(self.classes_)):
                raise DataError(
                    f"{self.name} gave scores of shape {values.shape} for {block.size} nodes and "
                    f"{len(self.classes_)} classes."
                )
            scores[start : start + block.size] = values
        if not np.isfinite(scores).all():
            raise DataError(f"{self.name} gave scores that are NaN or infinite.")
        return scores if in_order else scores[place]


def _check_graph(graph: GraphView) -> None:
    if not isinstance(graph, GraphView):
        raise ParameterError(
            f"A nodegraft.Graph or a view of one is needed, not a {type(graph).__name__}: see "
            "nodegraft.read_graph."
        )


def _chosen(
    graph: GraphView, nodes: Sequence[Key] | None, rows: Iterable[Row] | None
) -> tuple[GraphView, IntArray, list[Key]]:
    """Return the view, row numbers and keys of the given nodes, or of the given new rows."""
    _check_graph(graph)
    if (nodes is None) == (rows is None):
        raise ParameterError("Give keys of nodes (nodes=…), or rows (rows=…).")
    if nodes is not None:
        return graph, graph.targets_of(nodes), list(nodes)
    view = rows_view(graph, rows or ())
    return view, view.new_rows, view.names


def _by_row(view: GraphView, labels: NodeLabels | Labels) -> NodeLabels:
    if isinstance(labels, NodeLabels):
        by_row = labels
    else:
        by_row = NodeLabels.by_key(view, keys_by_class(labels))
    view.positions(by_row.rows())
    return by_row
