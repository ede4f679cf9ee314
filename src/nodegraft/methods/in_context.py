"""In-context classification: a classifier of tables, fitted again whenever a class arrives."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.graph.keys import hash_order
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.templates.derived import Derived
from nodegraft.methods.templates.propagated import Propagated
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum

SAMPLE = 2000
"""Visible nodes that changed predictions are counted on, and that the reduction is fitted on."""


@dataclass(kw_only=True)
class InContext(Derived["Fitted"], Propagated):
    r"""Class probabilities :math:`f(z; L)` of a classifier :math:`f` that is given all labels
    :math:`L` at once, on :math:`z = [X, SX, S^2X]` reduced to a few columns.

    So tabular foundation models classify: a class is added by adding its rows to the context, and
    nothing is trained. Here the classifier is scikit-learn's logistic regression, with classes that
    count alike; a subclass that overrides :meth:`new_classifier` can use any other one with ``fit``
    and ``predict_proba``, such as TabPFN or TabICL. The columns are those of a truncated singular
    value decomposition, fitted once. Hollmann et al. 2023 (TabPFN), https://arxiv.org/abs/2207.01848.

    Adapted: no weights of a tabular foundation model are part of this package. Trees, naive Bayes
    and linear discriminants of scikit-learn were tried: with them rounding errors of the features
    change scores by more than the contract of all methods allows.

    Predictions among old classes may change whenever a class is added. How many do is reported as
    progress (``old_predictions_changed``) and by :meth:`changed_by_last_session`.
    """

    columns: PositiveInt = 64
    """How many columns propagated features are reduced to."""

    kept_labels: PositiveInt = 60
    """At most so many labels of a class take part, drawn by the hash of their keys."""

    reduction_: NDArray[np.float32] = learned()
    """The reduction: a row for each propagated column."""

    name: ClassVar[str] = "in-context"
    summary: ClassVar[str] = "logistic regression of all labels, on reduced propagated features"
    citation: ClassVar[str] = "Hollmann et al. 2023 (TabPFN), with logistic regression"
    reversible: ClassVar[bool] = True

    def new_classifier(self) -> Any:
        """Return a new classifier with ``fit`` and ``predict_proba``."""
        # Imported late, because it is slow to import and most methods do not need it.
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=100.0, class_weight="balanced", max_iter=300, tol=1e-6)

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Fit the reduction to visible nodes, then the classifier to the known classes."""
        from sklearn.decomposition import TruncatedSVD

        rows = view.sampled(SAMPLE, view.rows[:0]).astype(np.int64)
        vectors = Propagated.embedding(self, view, rows)
        count = min(self.columns, *vectors.shape)
        seed = self.seeds.number("reduction") % 2**32
        engine = TruncatedSVD(count, random_state=seed).fit(vectors)
        self.reduction_ = np.ascontiguousarray(engine.components_.T, dtype=np.float32)
        super().learn_base(view, curriculum)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Fit the classifier again, and report how many predictions among old classes change."""
        super().learn_classes(view, support)
        changed = self._share_changed(view, len(self.labels_) - len(support))
        self.listener.step("in context", 1, 1, old_predictions_changed=changed)

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the reduced columns."""
        # In double: iterative solvers of scikit-learn end elsewhere in single precision.
        return np.asarray(super().embedding(view, rows) @ self.reduction_, dtype=np.float64)

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the classifier's probabilities."""
        return self.derived(view)(self.embedding(view, rows))

    def derive(self, view: GraphView) -> "Fitted":
        """Fit the classifier to the labels of all classes."""
        return self._fitted(view, self.labels_.on(view, self.kept_labels))

    def changed_by_last_session(self, graph: GraphView) -> float:
        """Return the share of visible nodes whose best old class the last session changed.

        Each node of a sample of 2,000 is predicted twice, with and without these labels. Only
        classes that are older than the last session are candidates.
        """
        model = self._now()
        model._check(graph)
        last = max(known.session for known in model._table.classes)
        old = sum(known.session < last for known in model._table.classes)
        return model._share_changed(graph, old)

    def _share_changed(self, view: GraphView, old: int) -> float:
        if not 0 < old < len(self.labels_):
            return 0.0
        rows = view.sampled(SAMPLE, view.rows[:0]).astype(np.int64)
        vectors = self.embedding(view, rows)
        labels = self.labels_.on(view, self.kept_labels)
        before = self._fitted(view, labels.select(labels.classes[:old]))(vectors)
        after = self.derived(view)(vectors)[:, :old]
        return float((before.argmax(axis=1) != after.argmax(axis=1)).mean())

    def _fitted(self, view: GraphView, labels: NodeLabels) -> "Fitted":
        if len(labels) == 1:
            return Fitted(None, np.zeros(1, dtype=np.int64))
        # Classifiers may depend on the order of rows and classes: both follow hashes of keys.
        rows, targets = labels.rows(), labels.targets(labels.classes)
        order = hash_order(view.key_array_of(rows))
        numbers = np.unique(targets[order], return_index=True)[1].argsort().argsort()
        vectors = self.embedding(view, rows)[order]
        return Fitted(self.new_classifier().fit(vectors, numbers[targets[order]]), numbers)


class Fitted(NamedTuple):
    """Classifier that has been given labels."""

    classifier: Any
    """Has ``predict_proba``; None where there is a single class."""

    numbers: NDArray[np.int64]
    """The classifier's number of each class."""

    def __call__(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities: a row for each node, a column for each class."""
        if self.classifier is None:
            return np.ones((len(vectors), 1))
        found: NDArray[np.float64] = self.classifier.predict_proba(vectors)[:, self.numbers]
        return found
