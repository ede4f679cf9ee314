"""ER-GNN: experience replay of a few nodes of every old class while new classes are learned."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveFloat, PositiveInt
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.prototypes import (
    class_means,
    coverage_maximisation,
    influence_maximisation,
    lowest_cost_nodes,
    mean_of_feature,
)
from nodegraft.methods.templates.classifying import Classifying
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class ERGNN(Classifying):
    r"""Experience replay with a buffer :math:`B` of ``kept`` nodes per class.

    .. math:: L = \beta L_{new} + (1 - \beta) L_B, \quad
        \beta = \frac{|B|}{|B| + |S^t|}

    Both losses are sums over nodes, so old and new nodes have the same total weight. After a
    session, nodes of its classes are added to the buffer, selected by ``choose``.

    Differences from the source: the GCN of the HAG-Meta paper, one head over all classes learned so
    far (in the source, the task of each query is given), and a fixed number of ``steps``. With
    means instead of sums, the few supports of new classes would have nearly all the weight, and old
    classes would be forgotten. ``kept``, ``steps`` and ``choose`` were chosen on validation
    classes. Zhou & Cao 2021, https://arxiv.org/abs/2003.09908.
    """

    steps: NonNegativeInt = 800
    """Number of gradient steps on encoder and head in each session."""

    choose: Literal["mean-of-feature", "coverage", "influence"] = "coverage"
    """Rule that selects the nodes for the buffer.

    - ``"mean-of-feature"``: nodes closest to their class's mean embedding;
    - ``"coverage"``: nodes with the fewest nodes of the session's other classes within ``radius``;
    - ``"influence"``: nodes whose absence would change the trained weights most. The source
      computes influence functions of the whole network by an iterative estimate. Here they are
      computed exactly, for the head only, with the encoder fixed and one Hessian block per class
      (see :func:`~nodegraft.methods.neural.prototypes.influence_maximisation`).
    """

    kept: PositiveInt = 10
    """Number of nodes of each class in the buffer."""

    radius: PositiveFloat = 1.0
    """Radius for ``"coverage"``, as a multiple of the mean distance between a node and its class
    mean. The source uses an absolute distance, but embeddings here have no fixed scale."""

    kept_: KeyedLabels = learned()
    """Buffer of labelled nodes that are replayed."""

    name: ClassVar[str] = "er-gnn"
    summary: ClassVar[str] = "experience replay of a few nodes of every old class"
    citation: ClassVar[str] = "Zhou & Cao 2021 (ER-GNN)"

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Train the classifier, then select nodes of the known classes for the buffer."""
        super().learn_base(view, curriculum)
        self.kept_ = KeyedLabels.of(self._chosen(view, curriculum.train), view)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Train on new supports and the buffer together, then add new supports to the buffer."""
        buffer = self.kept_.on(view)
        together = buffer | support
        targets = self.columns(together)
        parts = [buffer.num_nodes, support.num_nodes]

        def loss(scores: Tensor) -> Tensor:
            own = targets.to(scores.device)
            both = zip(torch.split(scores, parts), torch.split(own, parts), strict=True)
            old, new = (F.cross_entropy(*part, reduction="sum") for part in both)
            return mix(new, old, *parts) / sum(parts)

        self.train_on(self.grown(support), view, together.rows(), loss, self.steps)
        self.kept_ = KeyedLabels.of(buffer | self._chosen(view, support), view)

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the removed classes from the head and the buffer."""
        super().keep_classes(columns)
        self.kept_ = self.kept_.select(self.classes_[column] for column in columns)

    def _chosen(self, view: GraphView, labelled: NodeLabels) -> NodeLabels:
        return lowest_cost_nodes(labelled, self._costs(view, labelled), self.kept)

    def _costs(self, view: GraphView, labelled: NodeLabels) -> Tensor:
        vectors, targets = self.embedded(view, labelled)
        if self.choose == "influence":
            columns = self.columns(labelled)
            return influence_maximisation(vectors, columns, self.head_, self.weight_decay)
        distances = mean_of_feature(vectors, targets, class_means(vectors, targets, len(labelled)))
        if self.choose == "coverage":
            return coverage_maximisation(vectors, targets, self.radius * distances.mean().item())
        return distances


def mix(new: Tensor, replayed: Tensor, buffer: int, support: int) -> Tensor:
    r"""Return :math:`\beta L_{new} + (1 - \beta) L_B` with :math:`\beta = |B| / (|B| + |S|)`.

    >>> mix(torch.tensor(1.0), torch.tensor(10.0), buffer=30, support=10).item()
    3.25
    """
    beta = buffer / (buffer + support)
    return beta * new + (1.0 - beta) * replayed
