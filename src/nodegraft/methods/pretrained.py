"""What methods with a pre-trained graph encoder share: its sizes and how it is trained."""

from dataclasses import dataclass

from torch import Tensor

from nodegraft.graph.stream import Curriculum
from nodegraft.graph.view import GraphView
from nodegraft.methods.base import Method
from nodegraft.nn.encoders import GCN, Encoder
from nodegraft.training.pretrain import Pretraining


@dataclass(kw_only=True)
class Pretrained(Method):
    """The paper's encoder: two GCN layers of 32 and 16, trained on the base classes."""

    hidden: int = 32
    out: int = 16
    learning_rate: float = 0.005
    weight_decay: float = 0.0005
    dropout: float = 0.5
    patience: int = 10
    max_epochs: int = 1000

    def new_encoder(self, features: int) -> Encoder:
        """An encoder with fresh weights; a method with another one overrides this."""
        return self.gcn(features)

    def gcn(self, features: int, last_relu: bool = False) -> GCN:
        """The paper's encoder with fresh weights."""
        generator = self.seeds.torch_generator("encoder")
        return GCN([features, self.hidden, self.out], generator, last_relu)

    @property
    def pretraining(self) -> Pretraining:
        """How it is trained."""
        return Pretraining(
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            dropout=self.dropout,
            patience=self.patience,
            max_epochs=self.max_epochs,
        )

    def pretrain(self, encoder: Encoder, view: GraphView, curriculum: Curriculum) -> Tensor:
        """Train the encoder in place on the base classes; returns the classifier beside it."""
        return self.pretraining(encoder, view, curriculum, self.seeds, self.listener)
