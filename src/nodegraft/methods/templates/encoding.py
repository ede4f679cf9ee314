"""What methods that keep their encoder as it was last trained share: asking it."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.encoders.encoder import Encoder, embed_rows
from nodegraft.methods.templates.pretrained import Pretrained
from nodegraft.model.learned import learned


@dataclass(kw_only=True)
class Encoding(Pretrained):
    """Keeps the weights of the encoder, and embeds nodes with it."""

    encoder_: dict[str, Tensor] = learned()
    """The encoder's weights."""

    def keep_encoder(self, encoder: Encoder) -> None:
        """Take its weights; it is not to be trained further.

        Args:
            encoder: As it was trained.
        """
        self.encoder_ = encoder.state_dict()

    def encoder(self) -> Encoder:
        """The encoder as it was last trained; a copy, free to be trained further."""
        features = next(iter(self.encoder_.values())).shape[0]
        encoder = self.new_encoder(features)
        encoder.load_state_dict(self.encoder_)
        return encoder

    def answering_encoder(self) -> Encoder:
        """The encoder as it was last trained."""
        return self.encoder()

    @torch.no_grad()
    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """The encoder's output, from the neighbourhood of these rows alone."""
        encoder = self.encoder()
        return embed_rows(encoder, view, rows, encoder.hops)

    def embedded(self, view: GraphView, labels: NodeLabels) -> tuple[Tensor, Tensor]:
        """Embeddings of labelled nodes, and the place of each one's class.

        Args:
            view: What may be seen of the graph.
            labels: The nodes and their classes.
        """
        targets = torch.from_numpy(labels.targets(labels.classes))
        return self.embedding(view, labels.rows()), targets
