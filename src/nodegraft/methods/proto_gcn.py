"""Proto-GCN: a pre-trained graph encoder, then the nearest class mean."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.losses import adam
from nodegraft.methods.neural.prototypes import class_means, published_embeddings, squared_distances
from nodegraft.methods.templates.pretrained import Frozen
from nodegraft.model.hooks import PublishedLesson
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class ProtoGCN(Frozen):
    r"""The paper's Proto-GNN baseline with a GCN encoder.

    :math:`Z = g_\theta(A, X)`, :math:`p_k = \frac{1}{|S_k|}\sum_{j \in S_k} z_j`,
    :math:`p(y = k \mid q) \propto \exp(-\lVert z_q - p_k \rVert^2)`. The encoder is trained once
    and then frozen; a prototype is computed when its class is added and does not change.
    """

    prototypes_: Tensor = learned()
    """Mean embedding of each class, one row per class."""

    name: ClassVar[str] = "proto-gcn"
    summary: ClassVar[str] = "pre-trained GCN, class means, squared Euclidean distance"
    citation: ClassVar[str] = "Snell et al. 2017; Tan et al. 2022 (Proto-GCN)"
    reversible: ClassVar[bool] = True

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train the encoder, then compute the means of the known classes."""
        self.learn_encoder(view, curriculum)
        self.prototypes_ = self._means(view, curriculum.train)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Add a mean for each new class."""
        self.prototypes_ = torch.cat((self.prototypes_, self._means(view, support)))

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the means of the removed classes."""
        self.prototypes_ = self.prototypes_[torch.from_numpy(columns)]

    def scores_as_published(self, lesson: PublishedLesson) -> Tensor:
        """Score by distances to class means, then take a gradient step on the query loss."""
        encoder, noise = self.encoder(), np.random.default_rng(lesson.seed)

        def scores() -> Tensor:
            prototypes, queries = published_embeddings(encoder, lesson, noise)
            return -squared_distances(queries, prototypes)

        before = scores()
        if lesson.step:
            loss = F.cross_entropy(before, lesson.targets)
            loss.backward()  # type: ignore[no-untyped-call]
            adam(encoder.parameters(), self.learning_rate, self.weight_decay).step()
            self.keep_encoder(encoder)
            self.prototypes_ = self._means(lesson.view, self.labels_.on(lesson.view))
        return before if lesson.before_step else scores()

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return minus the squared distance of each node's embedding to each class mean."""
        return -squared_distances(self.embedding(view, rows), self.prototypes_)

    def _means(self, view: GraphView, labelled: NodeLabels) -> Tensor:
        return class_means(*self.embedded(view, labelled), len(labelled))
