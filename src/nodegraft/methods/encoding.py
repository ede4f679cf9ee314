"""What methods that keep their encoder as it was last trained share: asking it."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.graph.labels import Labelled
from nodegraft.graph.view import GraphView
from nodegraft.methods.pretrained import Pretrained
from nodegraft.nn.encoders import Encoder, embed_rows


@dataclass(kw_only=True)
class Encoding(Pretrained):
    """Its weights are ``encoder_``."""

    def keep_encoder(self, encoder: Encoder) -> None:
        """Take its weights; it is not to be trained further."""
        self.encoder_ = encoder.state_dict()

    def encoder(self) -> Encoder:
        """The encoder as it was last trained; a copy, free to be trained further."""
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
