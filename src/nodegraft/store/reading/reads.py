"""Methods of a store that read its versions and change nothing."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodegraft.analysis.version import Promotion, Version
from nodegraft.base.errors import ParameterError
from nodegraft.base.tabular import Records
from nodegraft.graph.keys import Key
from nodegraft.store.parts import StoreParts

if TYPE_CHECKING:
    from nodegraft.analysis.accuracy import LabelledPredictions
    from nodegraft.analysis.own_labels.comparison import Evaluation
    from nodegraft.analysis.prediction_table import Predictions
    from nodegraft.analysis.predictions import Missing
    from nodegraft.analysis.preview import Preview
    from nodegraft.analysis.results.comparisons import Shift
    from nodegraft.analysis.results.nodes import NewClass, Suggestion, SuspiciousLabel
    from nodegraft.analysis.snapshot import State
    from nodegraft.evaluation.confusion import ConfusionMatrix
    from nodegraft.graph.graph import Graph
    from nodegraft.model.confidence import World
    from nodegraft.tables.labels import Labels
    from nodegraft.tables.new_rows import Row


class StoreReads:
    """Versions, predictions and measurements of a store, inherited by :class:`nodegraft.Store`."""

    place: Path
    parts: StoreParts

    def history(self) -> Records[Version]:
        """Return all versions, oldest first."""
        return Records(self.parts.journal.versions())

    def version(self, number: int | None = None) -> Version:
        """Return one version: its change and the names of its objects.

        Args:
            number: Number of the version; None for the newest.
        """
        return self.parts.journal.version(number)

    @property
    def table_options(self) -> dict[str, Any]:
        """Options for reading tables (columns, key type, delimiter), as given to ``init``."""
        return self.parts.table_options

    @property
    def key_column(self) -> str | dict[str, str]:
        """Column with the keys in the table of nodes; or a dict: node type -> column."""
        column: str | dict[str, str] = self.table_options.get("key", "key")
        return column

    def promotions(self) -> Records[Promotion]:
        """Return all promotions, oldest first: which version became live, and when."""
        return Records(self.parts.journal.promotions())

    @property
    def live(self) -> int:
        """Number of the live version."""
        return self.parts.versions.live

    @property
    def newest(self) -> int:
        """Number of the newest version, not counting prunes; the next change is based on it."""
        return self.parts.journal.heads().newest.number

    @property
    def candidate(self) -> int:
        """Number of the version that waits for review; an error if none does."""
        return self.parts.versions.candidate.number

    def waiting(self) -> Version | None:
        """Return the candidate; None if no version waits for review."""
        return self.parts.journal.heads().candidate

    @property
    def world(self) -> "World":
        """``open`` if nodes may belong to unknown classes, ``closed`` otherwise.

        This is the setting ``world``, but always ``closed`` if the method has no open-set score.
        """
        return self.parts.settings.world

    def pruned(self) -> dict[int, Version]:
        """Return the pruned versions, each with the version that pruned it."""
        return self.parts.journal.pruned()

    def state(self, version: int | None = None) -> "State":
        """Return graph, labels and model of a version.

        Args:
            version: Number of the version; None for the live version.
        """
        number = self.live if version is None else version
        return self.parts.state(self.parts.journal.version(number))

    def graph(self, version: int | None = None) -> "Graph":
        """Return the graph of a version, without its model.

        Args:
            version: Number of the version; None for the newest.
        """
        return self.parts.states.graph(self.parts.versions.whole(version).graph)

    def texts(self, nodes: Sequence[Key], version: int | None = None) -> list[str | None]:
        """Return the beginning of the text of each node; None where there is no text.

        Args:
            nodes: Keys of nodes.
            version: Number of the version; None for the newest.
        """
        return self.parts.states.texts_of(self.parts.versions.whole(version), nodes)

    def search(self, words: str, limit: int = 20, version: int | None = None) -> list[Key]:
        """Return the nodes whose key and text contain all words, best matches first.

        The best match is an equal key, then a key that starts with the query, then words that start
        with the query words, then query words found inside of words.

        Args:
            words: Query words with blanks between them; case is ignored.
            limit: Maximum number of nodes.
            version: Number of the version; None for the newest.
        """
        return self.parts.states.search(self.parts.versions.whole(version), words, limit)

    def predict(
        self,
        nodes: Sequence[Key] | None = None,
        *,
        version: int | None = None,
        top: int = 1,
        min_confidence: float | None = None,
        missing: "Missing" = "error",
        ignore_labels: bool = False,
        coverage: float | None = None,
        rows: "Iterable[Row] | None" = None,
    ) -> "Predictions":
        """Return the class of each node, and whether it is its label or a prediction.

        A labelled node has its label as class; label and prediction are both in the table.
        ``reason`` is ``own_label``, ``prediction``, ``ancestor``, ``below_confidence`` or
        ``unknown_key``.

        Args:
            nodes: Keys of nodes; None for all.
            version: Number of the version; None for the live version.
            top: Number of classes for each node, the likeliest first.
            min_confidence: Between 0 and 1: a prediction with less confidence becomes its lowest
                ancestor in the class tree that reaches it; it is withheld if there is none.
            missing: Treatment of keys that the graph does not have: ``error`` raises an error
                that names them, ``skip`` leaves them out, ``null`` gives a row without a class.
            ignore_labels: Whether the class of a labelled node is its prediction, not its label.
            coverage: Between 0 and 1, such as 0.9: also return a prediction set, a set of classes,
                for each node. The set contains the true class for this share of the nodes of known
                classes. The first call for a version takes longer: it calibrates on labels that
                were not used for training.
            rows: Rows that are not in the graph, instead of ``nodes``: each has the columns that
                the store was created from and, as ``edges``, a list such as
                ``[{"type": "needs", "target": "react"}]``. Rows are not stored, and the prediction
                for a row does not depend on the other rows
                (:func:`nodegraft.tables.new_rows.rows_view`).
        """
        from nodegraft.analysis.predictions import predict_keys, predict_new_rows

        number = self.live if version is None else version
        state, limits = self.state(number), (top, min_confidence)
        if rows is not None:
            if nodes is not None:
                raise ParameterError("Give keys of nodes (nodes=…) or rows (rows=…), not both.")
            if missing != "error" or ignore_labels:
                raise ParameterError("missing and ignore_labels have no effect on rows: omit them.")
            options: dict[str, Any] = {"key": self.key_column, "coverage": coverage}
            return predict_new_rows(state, rows, number, *limits, **options)
        options = {"ignore_labels": ignore_labels, "coverage": coverage}
        return predict_keys(state, nodes, number, *limits, missing=missing, **options)

    def score(self, labels: "Labels | None" = None, version: int | None = None) -> float:
        """Return the accuracy of a version, from 0 to 1.

        Args:
            labels: True class -> keys of its nodes, or another form of labels; None for the
                held-out nodes of the version.
            version: Number of the version; None for the live version.
        """
        return self._labelled(labels, version).accuracy

    def classification_report(
        self, labels: "Labels | None" = None, version: int | None = None
    ) -> str:
        """Return precision, recall and F1 of each class as text, as scikit-learn prints them.

        Args:
            labels: See :meth:`score`.
            version: Number of the version; None for the live version.
        """
        return self._labelled(labels, version).report()

    def confusion_matrix(
        self,
        labels: "Labels | None" = None,
        version: int | None = None,
        min_confidence: float | None = None,
    ) -> "ConfusionMatrix":
        """Count the nodes of each true class by predicted class.

        Args:
            labels: See :meth:`score`.
            version: Number of the version; None for the live version.
            min_confidence: Between 0 and 1: predictions with less confidence are withheld and
                counted separately.
        """
        return self._labelled(labels, version, min_confidence).confusion

    def explain(self, node: Key, version: int | None = None) -> dict[str, Any]:
        """Explain the prediction for a node.

        Args:
            node: Key of the node.
            version: Number of the version; None for the live version.
        """
        state = self.state(version)
        return state.model.explain(state.graph, node)

    def suggest(self, count: int = 10, version: int | None = None) -> "Records[Suggestion]":
        """Suggest nodes to label next: uncertain nodes, each of which represents similar ones.

        Args:
            count: Number of nodes.
            version: Number of the version; None for the newest.
        """
        from nodegraft.analysis.suggestions import suggestions

        return Records(suggestions(self._newest_or(version), count))

    def audit_labels(
        self, count: int = 20, version: int | None = None
    ) -> "Records[SuspiciousLabel]":
        """Return the labels that are most probably wrong, with a reason and a suggested class.

        Each label is compared with the prediction of a model that was trained without this label
        (:mod:`nodegraft.analysis.label_audit`); the version is not changed. Correct labels with
        :meth:`relabel`.

        Args:
            count: Maximum number of labels.
            version: Number of the version; None for the candidate.
        """
        from nodegraft.analysis.label_audit import audit_labels

        state = self.state(self.newest if version is None else version)
        return audit_labels(state, count, self.parts.listener)

    def suggest_classes(self, count: int = 3, version: int | None = None) -> "Records[NewClass]":
        """Suggest groups of nodes that may be a new class, the largest first.

        Args:
            count: Maximum number of groups.
            version: Number of the version; None for the newest.
        """
        from nodegraft.analysis.suggestions import new_classes

        return Records(new_classes(self._newest_or(version), count))

    def drift(self, before: int | None = None, after: int | None = None) -> "Records[Shift]":
        """Measure the drift of predictions, confidence, edges and features between two versions.

        Args:
            before: Number of the earlier version; None for the live version.
            after: Number of the later version; None for the newest.
        """
        from nodegraft.analysis.drift import shifts

        return Records(shifts(self.state(before), self._newest_or(after)))

    def evaluate(
        self,
        methods: Sequence[str] | None = None,
        *,
        seeds: int = 5,
        shots: int = 5,
        version: int | None = None,
    ) -> "Evaluation":
        """Compare methods on the labels of this store.

        Half of the classes are known at first, the others arrive in sessions; query nodes are not
        used for training (the strict protocol). Nothing in the store is changed.

        Args:
            methods: Names of methods; None for the store's own method, with its parameters, and
                some fast ones.
            seeds: Number of random draws of new classes and training nodes.
            shots: Number of training labels of a new class; classes with fewer than twice as many
                labels are left out.
            version: Number of the version with the labels; None for the newest.
        """
        from nodegraft.analysis.own_labels.evaluation import evaluate_methods

        number = self.newest if version is None else version
        listener = self.parts.listener
        return evaluate_methods(self.state(number), number, methods, seeds, shots, listener)

    def diff(self, before: int, after: int) -> "Preview":
        """Compare the predictions of two versions.

        Args:
            before: Number of the earlier version.
            after: Number of the later version.
        """
        from nodegraft.analysis.preview import compare

        return compare(self.state(before), self.state(after))

    def _newest_or(self, version: int | None) -> "State":
        return self.state(self.newest if version is None else version)

    def _labelled(
        self, labels: "Labels | None", version: int | None, min_confidence: float | None = None
    ) -> "LabelledPredictions":
        from nodegraft.analysis.accuracy import predict_labelled

        return predict_labelled(self.state(version), labels, min_confidence)
