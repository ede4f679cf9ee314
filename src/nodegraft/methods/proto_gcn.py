"""Proto-GCN: a pre-trained graph encoder, then the nearest class mean."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.graph.labels import Labelled
from nodegraft.graph.stream import Curriculum
from nodegraft.graph.view import GraphView
from nodegraft.methods.pretrained import Pretrained
from nodegraft.nn.encoders import GCN, embed_rows
from nodegraft.nn.prototypes import class_means, squared_distances


@dataclass(kw_only=True)
class ProtoGCN(Pretrained):
    r"""The paper's Proto-GNN baseline with a GCN encoder.

    :math:`Z = g_\theta(A, X)`, :math:`p_k = \frac{1}{|S_k|}\sum_{j \in S_k} z_j`,
    :math:`p(y = k \mid q) \propto \exp(-\lVert z_q - p_k \rVert^2)`. The encoder is trained once
    and stays as it is; prototypes stay as they were when their class arrived. The paper trains it
    on the base classes; ``pretrain_on="known"`` adds the pseudo-novel ones, which this method does
    not need for practice.
    """

    pretrain_on: Literal["base", "known"] = "base"

    name: ClassVar[str] = "proto-gcn"
    summary: ClassVar[str] = "pre-trained GCN, class means, squared Euclidean distance"
    citation: ClassVar[str] = "Snell et al. 2017; Tan et al. 2022 (Proto-GCN)"

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train the encoder; means for all known classes."""
        everything = replace(curriculum, pseudo_novel=())
        lesson = everything if self.pretrain_on == "known" else curriculum
        self.encoder_ = self.pretrain(view, lesson)
        self.prototypes_ = self._means(view, curriculum.train)

    def learn_classes(self, view: GraphView, support: Labelled) -> None:
        """One more mean for each class."""
        self.prototypes_ = torch.cat((self.prototypes_, self._means(view, support)))

    def unlearn_classes(self, kept: NDArray[np.int64]) -> None:
        """Drop the other means."""
        self.prototypes_ = self.prototypes_[torch.from_numpy(kept)]

    def learn_as_published(self, view: GraphView, everything: Labelled, queries: Labelled) -> None:
        """One step of the encoder on the loss of the queries; means over all nodes."""
        encoder = GCN.from_state(self.encoder_)
        optimiser = torch.optim.Adam(
            encoder.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay
        )
        asked, targets = self._embedded(encoder, view, queries, everything.classes)
        means = class_means(*self._embedded(encoder, view, everything), len(everything))
        loss = F.cross_entropy(-squared_distances(asked, means), targets)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        self.encoder_ = encoder.state_dict()
        self.prototypes_ = self._means(view, everything)

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Minus the squared distance to each mean."""
        return -squared_distances(self.embedding(view, rows), self.prototypes_)

    @torch.no_grad()
    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """The encoder's output, from the neighbourhood of these rows alone."""
        encoder = GCN.from_state(self.encoder_)
        embeddings: Tensor = encoder(view.neighbourhood(rows, encoder.hops))
        return embeddings

    @torch.no_grad()
    def _means(self, view: GraphView, labelled: Labelled) -> Tensor:
        encoder = GCN.from_state(self.encoder_)
        return class_means(*self._embedded(encoder, view, labelled), len(labelled))

    @staticmethod
    def _embedded(
        encoder: GCN, view: GraphView, labelled: Labelled, columns: Sequence[str] | None = None
    ) -> tuple[Tensor, Tensor]:
        embeddings = embed_rows(encoder, view, labelled.rows(), encoder.hops)
        return embeddings, torch.from_numpy(labelled.targets(columns or labelled.classes))
