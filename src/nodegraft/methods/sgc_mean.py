"""SGC means: the most similar class mean of propagated features."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.linear.cosines import centred_cosines
from nodegraft.methods.templates.propagated import Propagated
from nodegraft.model.hooks import PublishedLesson
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class SGCMean(Propagated):
    r"""Centred cosine with class means of propagated features; nothing is trained:

    .. math:: s_k = \cos(z - \mu, p_k - \mu), \quad \mu = \frac{1}{|C_0|}\sum_{c \in C_0} p_c

    where :math:`z = [X, SX, S^2X]`, each part and then the whole scaled to length 1. :math:`p_k`
    are class means, and :math:`\mu` is the mean of the base classes' means, which is not updated
    when classes are added. Sparse features stay sparse. Wu et al. 2019,
    https://arxiv.org/abs/1902.07153.
    """

    prototypes_: NDArray[np.float32] = learned()
    """Mean of each class, one row per class."""

    centre_: NDArray[np.float32] = learned()
    """Centre: mean of the first classes' means."""

    name: ClassVar[str] = "sgc-mean"
    summary: ClassVar[str] = "propagated features, centred cosine to class means; nothing trained"
    citation: ClassVar[str] = "Wu et al. 2019 (SGC)"
    reversible: ClassVar[bool] = True

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Compute the means of the known classes, and their mean as the centre."""
        self.prototypes_ = self._means(view, curriculum.train)
        self.centre_ = self.prototypes_.mean(axis=0)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Add a mean for each new class."""
        self.prototypes_ = np.concatenate((self.prototypes_, self._means(view, support)))

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the means of the removed classes; scores of other classes do not change."""
        self.prototypes_ = self.prototypes_[columns]

    def scores_as_published(self, lesson: PublishedLesson) -> NDArray[np.float64]:
        """Compute scores from class means, without dropout and without a gradient step."""
        means = [self._means(lesson.view, task) for task in lesson.tasks]
        rows, place = np.unique(lesson.query.rows(), return_inverse=True)
        vectors = self.embedding(lesson.view, rows)
        centre = means[0].mean(axis=0)
        return centred_cosines(vectors, np.concatenate(means), centre)[place]

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the centred cosine with each class mean."""
        return centred_cosines(self.embedding(view, rows), self.prototypes_, self.centre_)

    def _means(self, view: GraphView, labelled: NodeLabels) -> NDArray[np.float32]:
        means = [self._mean(view, rows) for rows in labelled.values()]
        return np.stack(means).astype(np.float32)

    def _mean(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        total = sum(self.embedding(view, block).sum(axis=0) for block in self._blocks(rows))
        return np.asarray(total, dtype=np.float64).ravel() / rows.size

    def _blocks(self, rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        ordered = np.sort(rows)
        for start in range(0, ordered.size, self.block_rows):
            yield ordered[start : start + self.block_rows]
