"""Methods with a pre-trained graph encoder: its parameters, training, and embeddings."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.errors import ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.parameters.constraints import (
    FractionBelowOne,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
)
from nodegraft.graph.disk.blocks.encode import Encoded, encode
from nodegraft.graph.disk.blocks.layer_work import BlockExecutor
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.statistics import column_rarity
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.encoders import GCN, Encoder, embed_rows
from nodegraft.methods.neural.training import Pretraining
from nodegraft.model.hooks import Hooks
from nodegraft.model.learned import learned
from nodegraft.model.method import Method
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class Pretrained(Hooks):
    """The paper's encoder: two GCN layers, trained on the base classes."""

    hidden: PositiveInt = 32
    """The width of the first layer; more can tell more classes apart, and is slower."""

    out: PositiveInt = 16
    """The width of the last layer: how many numbers an embedding has."""

    learning_rate: PositiveFloat = 0.005
    """Adam's step size."""

    weight_decay: NonNegativeFloat = 0.0005
    """How strongly weights are drawn to zero."""

    dropout: FractionBelowOne = 0.5
    """The share of hidden numbers that is dropped in each training step."""

    patience: NonNegativeInt = 10
    """Training stops after more than so many epochs (or checks) in a row without progress."""

    max_epochs: NonNegativeInt = 1000
    """Training stops after so many epochs at the latest."""

    idf: bool = False
    """Whether columns of sparse features are weighted by inverse document frequency (relative to
    its mean over columns), counted over the nodes visible when the encoder is pre-trained."""

    def new_encoder(self, features: int) -> Encoder:
        """Return an encoder with initial weights; override this for another encoder.

        Args:
            features: How many numbers a feature row has.
        """
        return self.gcn(features)

    @abstractmethod
    def answering_encoder(self) -> Encoder:
        """Return the encoder that embeds queried nodes, as it was last trained."""

    def gcn(self, features: int, last_relu: bool = False) -> GCN:
        """Return the paper's encoder with initial weights.

        Args:
            features: How many numbers a feature row has.
            last_relu: Whether negative numbers are cut off behind the last layer, too.
        """
        generator = self.seeds.torch_generator("encoder")
        return GCN([features, self.hidden, self.out], generator, last_relu)

    @property
    def pretraining(self) -> Pretraining:
        """Options of training."""
        return Pretraining(
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            dropout=self.dropout,
            patience=self.patience,
            max_epochs=self.max_epochs,
        )

    def pretrain(self, encoder: Encoder, view: GraphView, curriculum: Curriculum) -> Tensor:
        """Train the encoder in place on the base classes, and return its classifier.

        Args:
            encoder: Encoder with initial weights.
            view: Visible part of the graph.
            curriculum: Labels of the known classes.
        """
        if self.idf:
            rarity = torch.from_numpy(column_rarity(view))
            encoder.column_weights = rarity / rarity.mean()
        return self.pretraining(encoder, view, curriculum, self.seeds, self.listener)


@dataclass(kw_only=True)
class Encoding(Pretrained):
    """Keeps the weights of the encoder, and embeds nodes with it."""

    encoder_: dict[str, Tensor] = learned()
    """The encoder's weights."""

    def keep_encoder(self, encoder: Encoder) -> None:
        """Store the weights of an encoder without a copy, so do not train it afterwards."""
        self.encoder_ = encoder.state_dict()

    def encoder(self) -> Encoder:
        """Return the encoder as it was last trained; a copy, free to be trained further."""
        features = next(iter(self.encoder_.values())).shape[0]
        encoder = self.new_encoder(features)
        if self.idf:
            encoder.column_weights = torch.ones(features)
        encoder.load_state_dict(self.encoder_)
        return encoder

    def answering_encoder(self) -> Encoder:
        """Return the encoder as it was last trained."""
        return self.encoder()

    @torch.no_grad()
    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return the encoder's output, from the neighbourhood of these rows alone."""
        encoder = self.encoder()
        return embed_rows(encoder, view, rows, encoder.hops)

    def embedded(self, view: GraphView, labels: NodeLabels) -> tuple[Tensor, Tensor]:
        """Return embeddings of labelled nodes, and the place of each one's class."""
        targets = torch.from_numpy(labels.targets(labels.classes))
        return self.embedding(view, labels.rows()), targets


@dataclass(kw_only=True)
class Frozen(Encoding, Method):
    """The encoder is trained in session 0 and stays as it is."""

    pretrain_on: Literal["base", "known"] = "base"
    """The paper trains it on the base classes; ``"known"`` adds the pseudo-novel ones, which a
    method without practice does not need to keep back."""

    def learn_encoder(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train it and keep its weights."""
        known = self.pretrain_on == "known"
        encoder = self.new_encoder(view.num_features)
        self.pretrain(encoder, view, curriculum.without_pseudo_novel if known else curriculum)
        self.keep_encoder(encoder)


def encode_for(
    model: Method,
    graph: GraphView,
    executor: BlockExecutor | None = None,
    *,
    listener: Listener = SILENT,
) -> Encoded:
    """Embed all nodes by a model's graph convolutions, layer by layer, and keep that on disk.

    From then on the model answers about this graph by looking its nodes up, in memory for what is
    asked; else every answer is worked out from the neighbourhoods of the nodes in question, which
    together may be the whole graph. When the encoder's weights change, as ``hag-meta`` changes them
    where it learns classes, this is to be done again.

    Args:
        model: A model with a trained encoder.
        graph: A graph on disk; it need not be the one that the model was trained on.
        executor: Who computes the blocks; None for this process.
        listener: Receives progress.
    """
    model = model._now()
    model._check(graph)
    if not isinstance(model, Pretrained):
        raise ParameterError(
            f"{model.name} has no trained encoder. Precompute the features it reads with "
            "`nodegraft propagate`, without a model."
        )
    network = model.answering_encoder().row_network()
    if network is None:
        raise ParameterError(
            f"The layers of {model.name} weigh each pair of neighbours, so they cannot be computed "
            "in blocks: it predicts nodes of a graph on disk from their neighbourhoods, as long "
            "as these fit into memory. Use graph convolutions: proto-gcn."
        )
    return encode(graph, network, executor, listener=listener)
