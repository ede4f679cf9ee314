"""What methods with a pre-trained graph encoder share: its sizes and how it is trained."""

from dataclasses import dataclass

from torch import Tensor

from nodegraft.graph.stream import Curriculum
from nodegraft.graph.view import GraphView
from nodegraft.methods.base import Method
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

    def pretrain(
        self, view: GraphView, curriculum: Curriculum, last_relu: bool = False
    ) -> dict[str, Tensor]:
        """Weights of the encoder."""
        pretrain = Pretraining(
            sizes=(self.hidden, self.out),
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            dropout=self.dropout,
            last_relu=last_relu,
            patience=self.patience,
            max_epochs=self.max_epochs,
        )
        return pretrain(view, curriculum, self.seeds, self.listener)
