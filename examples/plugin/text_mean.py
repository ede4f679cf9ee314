"""Text mean: the class whose mean feature row is most similar; the edges are ignored."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.parameters.constraints import Fraction
from nodegraft.graph.edges.matrix import Matrix, normalise_rows
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.model.learned import learned
from nodegraft.model.method import Method
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class TextMean(Method):
    """Cosine to the mean feature row of each class."""

    shrinkage: Fraction = 0.1
    """Weight of the mean of all given classes in each class mean."""

    means_: NDArray[np.float32] = learned()
    """One mean for each class."""

    name: ClassVar[str] = "text-mean"
    summary: ClassVar[str] = "cosine to class means of the features, no edges"

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Compute the means of the known classes."""
        self.means_ = self._means(view, curriculum.train)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Append a mean for each new class."""
        self.means_ = np.concatenate((self.means_, self._means(view, support)))

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        """Return the cosine to each mean."""
        return normalise_rows(view.features(rows)) @ self.means_.T

    def _means(self, view: GraphView, labels: NodeLabels) -> Matrix:
        rows = [normalise_rows(view.features(nodes)) for nodes in labels.values()]
        means = np.stack([np.asarray(own.mean(axis=0)).ravel() for own in rows])
        return normalise_rows(means + self.shrinkage * (means.mean(axis=0) - means))
