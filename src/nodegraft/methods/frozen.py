"""What methods on a frozen encoder share: it is trained once, then only asked."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.graph.labels import Labelled
from nodegraft.graph.stream import Curriculum
from nodegraft.graph.view import GraphView
from nodegraft.methods.pretrained import Pretrained
from nodegraft.nn.encoders import Encoder, embed_rows


@dataclass(kw_only=True)
class Frozen(Pretrained):
    """The paper trains it on the base classes; ``pretrain_on="known"`` adds the pseudo-novel ones,
    which a method without practice does not need to keep back.
    """

    pretrain_on: Literal["base", "known"] = "base"

    def learn_encoder(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train it and keep its weights."""
        everything = replace(curriculum, pseudo_novel=())
        encoder = self.new_encoder(view.num_features)
        self.pretrain(encoder, view, everything if self.pretrain_on == "known" else curriculum)
        self.encoder_ = encoder.state_dict()

    def encoder(self) -> Encoder:
        """The encoder as it was trained."""
        features = next(iter(self.encoder_.values())).shape[0]
        encoder = self.new_encoder(features)
        encoder.load_state_dict(self.encoder_)
        return encoder

    @torch.no_grad()
    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """The encoder's output, from the neighbourhood of these rows alone."""
        encoder = self.encoder()
        return embed_rows(encoder, view, rows, encoder.hops)

    def embedded(self, view: GraphView, labelled: Labelled) -> tuple[Tensor, Tensor]:
        """Embeddings of labelled nodes, and the place of each one's class."""
        targets = torch.from_numpy(labelled.targets(labelled.classes))
        return self.embedding(view, labelled.rows()), targets
