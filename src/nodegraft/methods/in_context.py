"""In-context classification: a tabular classifier that is refitted when a class is added."""

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
"""Number of visible nodes used to fit the reduction and to count changed predictions."""


@dataclass(kw_only=True)
class InContext(Derived["Fitted"], Propagated):
    r"""Tabular classifier on propagated features, fitted to all labels at once.

    It predicts class probabilities :math:`f(z; L)` from all labels :math:`L`, on :math:`z = [X, SX,
    S^2X]` reduced to a few columns. Tabular foundation models work like this: a class is added by
    adding its rows to the context, and nothing is trained. Here the classifier is scikit-learn's
    logistic regression with equal weight for all classes. A subclass that overrides
    :meth:`new_classifier` can use any other classifier with ``fit`` and ``predict_proba``, such as
    TabPFN or TabICL. The columns come from a truncated singular value decomposition, fitted once.
    Hollmann et al. 2023 (TabPFN), https://arxiv.org/abs/2207.01848.

    Difference from the source: this package contains no weights of a tabular foundation model.
    Trees, naive Bayes and linear discriminants of scikit-learn were tried, but rounding errors of
    the features change their scores by more than the checks of all methods allow.

    Predictions among old classes may change when a class is added. The share of changed predictions
    is reported as progress (``old_predictions_changed``) and by :meth:`changed_by_last_session`.
    """

    columns: PositiveInt = 64
    """Number of columns that propagated features are reduced to."""

    kept_labels: PositiveInt = 60
    """Maximum number of labels used for each class, selected by the hash of their keys."""

    reduction_: NDArray[np.float32] = learned()
    """Matrix of the reduction: propagated columns x reduced columns."""

    name: ClassVar[str] = "in-context"
    summary: ClassVar[str] = "logistic regression of all labels, on reduced propagated features"
    citation: ClassVar[str] = "Hollmann et al. 2023 (TabPFN), with logistic regression"
    reversible: ClassVar[bool] = True

    def new_classifier(self) -> Any:
        """Return a new classifier with ``fit`` and ``predict_proba``."""
        # This import is slow, and most methods do not need it.
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
        """Refit the classifier, and report the share of changed predictions among old classes."""
        super().learn_classes(view, support)
        changed = self._share_changed(view, len(self.labels_) - len(support))
        self.listener.step("in context", 1, 1, old_predictions_changed=changed)

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the reduced propagated features."""
        # Use double precision, because iterative solvers of scikit-learn give different results in
        # single precision.
        return np.asarray(super().embedding(view, rows) @ self.reduction_, dtype=np.float64)

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the classifier's probabilities."""
        return self.derived(view)(self.embedding(view, rows))

    def derive(self, view: GraphView) -> "Fitted":
        """Fit the classifier to the labels of all classes."""
        return self._fitted(view, self.labels_.on(view, self.kept_labels))

    def changed_by_last_session(self, graph: GraphView) -> float:
        """Return the share of visible nodes whose prediction among old classes changed.

        Old classes are the classes that were added before the last session. Each node of a sample
        of 2,000 is predicted twice, with and without the labels of the last session.
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
        # The result of a classifier may depend on the order of rows and classes, so both are sorted
        # by hashes of keys.
        rows, targets = labels.rows(), labels.targets(labels.classes)
        order = hash_order(view.key_array_of(rows))
        numbers = np.unique(targets[order], return_index=True)[1].argsort().argsort()
        vectors = self.embedding(view, rows)[order]
        return Fitted(self.new_classifier().fit(vectors, numbers[targets[order]]), numbers)


class Fitted(NamedTuple):
    """Result of fitting: a classifier, and the order of its classes."""

    classifier: Any
    """Fitted classifier with ``predict_proba``; None if there is a single class."""

    numbers: NDArray[np.int64]
    """Column of each class in the classifier's output."""

    def __call__(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities: nodes x classes."""
        if self.classifier is None:
            return np.ones((len(vectors), 1))
        shares: NDArray[np.float64] = self.classifier.predict_proba(vectors)[:, self.numbers]
        return shares
