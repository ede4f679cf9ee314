"""Base classes of methods with a pre-trained graph encoder."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.errors import ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.hashing import content_hash
from nodegraft.base.parameters.build import parameters_of
from nodegraft.base.parameters.constraints import (
    FractionBelowOne,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
)
from nodegraft.graph.disk.blocks.encode import Encoded, encode
from nodegraft.graph.disk.blocks.layer_work import BlockExecutor
from nodegraft.graph.edges.sampling import ALL, FanOut
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.statistics import column_rarity
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.batches import Batch, sampled
from nodegraft.methods.neural.checkpoints import TrainingCheckpoint
from nodegraft.methods.neural.device import CPU, Device, training_device
from nodegraft.methods.neural.encoders import GCN, Encoder, embed_rows
from nodegraft.methods.neural.pretraining import Pretraining
from nodegraft.methods.neural.ranks import is_shared, join_ranks, require_same_inputs
from nodegraft.model.hooks import Hooks
from nodegraft.model.learned import learned
from nodegraft.model.method import Method
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class Pretrained(Hooks):
    """Base class of methods with the paper's encoder: two GCN layers, trained on base classes."""

    hidden: PositiveInt = 32
    """Width of the first layer. A larger width can distinguish more classes and is slower."""

    out: PositiveInt = 16
    """Width of the last layer, which is the size of an embedding."""

    learning_rate: PositiveFloat = 0.005
    """Adam's step size."""

    weight_decay: NonNegativeFloat = 0.0005
    """Strength of L2 regularisation (weight decay)."""

    dropout: FractionBelowOne = 0.5
    """Dropout rate of hidden values in each training step."""

    patience: NonNegativeInt = 10
    """Early stopping: maximum number of epochs (or rehearsals) in a row without improvement."""

    max_epochs: NonNegativeInt = 1000
    """Maximum number of training epochs."""

    idf: bool = False
    """Whether sparse feature columns are weighted by inverse document frequency, relative to its
    mean over columns. Frequencies are counted over the nodes visible in pre-training."""

    device: Device = "auto"
    """Device on which networks are trained, ``"cpu"`` or ``"cuda"``; ``"auto"`` is CUDA if PyTorch
    has a CUDA device. Predictions run on the CPU. CUDA was never tested on hardware."""

    batch: Batch = "auto"
    """Number of seed nodes of a training step on a sampled subgraph, or ``"full"`` to train on the
    whole graph at once. ``"auto"`` is ``"full"``, unless the graph has more than ten million edges
    or does not fit into memory; a warning then says that training samples."""

    fan_out: FanOut = 10
    """Number of neighbours of a node that are sampled at each hop, if training is sampled; -1 for
    all neighbours."""

    has_checkpoints: ClassVar[bool] = True
    adjustable: ClassVar[frozenset[str]] = Hooks.adjustable | {"batch", "fan_out"}

    data_parallel: ClassVar[bool] = True
    """Whether several processes can train the method together (``methods/neural/ranks.py``)."""

    def for_training(self, view: GraphView) -> GraphView:
        """Return the view to train on, which is sampled if ``batch`` says so.

        Args:
            view: Visible part of the graph.
        """
        seed = self.seeds.number("neighbours")
        return sampled(view, self.batch, self.fan_out, seed, self._ranks())

    def for_embedding(self, view: GraphView) -> GraphView:
        """Return the view to embed labelled nodes with: exact, in batches if training is sampled.

        Args:
            view: Visible part of the graph.
        """
        return sampled(view, self.batch, ALL, 0, self._ranks(), warn=False)

    def _ranks(self) -> tuple[int, int]:
        rank, world_size = join_ranks(self.device)
        if world_size > 1 and not self.data_parallel:
            raise ParameterError(
                f"{self.name} cannot be trained by {world_size} processes together, because its "
                "gradients run through gradient steps on a whole task: train it in one process, "
                "without torchrun."
            )
        return rank, world_size

    def new_encoder(self, features: int) -> Encoder:
        """Return an encoder with initial weights; override this for another encoder.

        Args:
            features: Number of feature columns.
        """
        return self.gcn(features)

    @abstractmethod
    def answering_encoder(self) -> Encoder:
        """Return the trained encoder that embeds nodes for predictions."""

    def gcn(self, features: int, last_relu: bool = False) -> GCN:
        """Return the paper's encoder with initial weights.

        Args:
            features: Number of feature columns.
            last_relu: Whether a ReLU follows the last layer, too.
        """
        generator = self.seeds.torch_generator("encoder")
        return GCN([features, self.hidden, self.out], generator, last_relu)

    @property
    def pretraining(self) -> Pretraining:
        """Pre-training procedure with the options of this method."""
        return Pretraining(
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            dropout=self.dropout,
            patience=self.patience,
            max_epochs=self.max_epochs,
            device=training_device(self.device),
        )

    def pretrain(self, encoder: Encoder, view: GraphView, curriculum: Curriculum) -> Tensor:
        """Train the encoder in place on the base classes, and return the weights of its classifier.

        Args:
            encoder: Encoder with initial weights.
            view: Visible part of the graph.
            curriculum: Labels of the known classes.
        """
        if self.idf:
            rarity = torch.from_numpy(column_rarity(view))
            encoder.column_weights = rarity / rarity.mean()
        own, inputs = self.for_training(view), dict[str, str]()
        if self.checkpoint is not None or is_shared(own):
            inputs = self._training_inputs(view, curriculum)
            has_checkpoint = str(self.checkpoint is not None)
            require_same_inputs({**inputs, "use of checkpoints": has_checkpoint}, own)
        checkpoint = TrainingCheckpoint(self.checkpoint, inputs, own)
        vars(self)["_open_checkpoint"] = checkpoint
        return self.pretraining(encoder, own, curriculum, self.seeds, self.listener, checkpoint)

    @property
    def _training_checkpoint(self) -> TrainingCheckpoint | None:
        """Checkpoint that pre-training has opened, for later stages of the same fit."""
        return vars(self).get("_open_checkpoint")

    def _training_inputs(self, view: GraphView, curriculum: Curriculum) -> dict[str, str]:
        """Return a hash of the graph, the labels, the method and its parameters.

        The device is not included, because it may differ between processes and after a restart.
        """
        rehearsal = curriculum.rehearsal
        known = (curriculum.train, curriculum.held_out)
        later = () if rehearsal is None else (*rehearsal.support, *rehearsal.query)
        entry = np.zeros(0) if rehearsal is None else rehearsal.entry
        expected = [curriculum.ways, curriculum.shots, list(curriculum.pseudo_novel)]
        parameters = {
            name: value for name, value in parameters_of(self).items() if name != "device"
        }
        return {
            "graph": view.fingerprint,
            "labels": content_hash(*map(_labels_hash, (*known, *later)), entry, expected),
            "method": self.name,
            "parameters": content_hash(parameters),
        }

    def require_same_labels(self, view: GraphView, labels: NodeLabels) -> None:
        """Raise an error if the processes that train together were given different labels."""
        own = self.for_embedding(view)
        if is_shared(own):
            require_same_inputs({"labels": _labels_hash(labels)}, own)


def _labels_hash(labels: NodeLabels) -> str:
    return content_hash(*(part for item in labels.items() for part in item))


@dataclass(kw_only=True)
class Encoding(Pretrained):
    """Base class of methods that store the encoder's weights and embed nodes with it."""

    encoder_: dict[str, Tensor] = learned()
    """Weights of the encoder."""

    def keep_encoder(self, encoder: Encoder) -> None:
        """Store the weights of an encoder without a copy; do not train it afterwards."""
        self.encoder_ = encoder.state_dict()

    def encoder(self) -> Encoder:
        """Return a copy of the trained encoder, which may be trained further."""
        features = next(iter(self.encoder_.values())).shape[0]
        encoder = self.new_encoder(features)
        if self.idf:
            encoder.column_weights = torch.ones(features, device=CPU)
        encoder.load_state_dict(self.encoder_)
        return encoder

    def answering_encoder(self) -> Encoder:
        """Return the trained encoder."""
        return self.encoder()

    @torch.no_grad()
    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return the encoder's output; only the neighbourhood of these rows is computed."""
        encoder = self.encoder()
        return embed_rows(encoder, view, rows, encoder.hops)

    def embedded(self, view: GraphView, labels: NodeLabels) -> tuple[Tensor, Tensor]:
        """Return the embedding and the class index of each labelled node.

        Args:
            labels: Labelled nodes; class indices follow the order of their classes.
        """
        targets = torch.from_numpy(labels.targets(labels.classes))
        return self.embedding(self.for_embedding(view), labels.rows()), targets


@dataclass(kw_only=True)
class Frozen(Encoding, Method):
    """Base class of methods whose encoder is trained in session 0 and then frozen."""

    pretrain_on: Literal["base", "known"] = "base"
    """Classes that the encoder is trained on: the base classes, as in the paper, or all known
    classes. Known classes include the pseudo-novel classes, which only methods with practice need
    to set aside."""

    def learn_encoder(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train the encoder and store its weights."""
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
    """Embed all nodes of a graph with a model's encoder, and cache the embeddings on disk.

    The model then reads the embeddings of queried nodes from this cache, which needs memory for
    these nodes only. Without the cache, each prediction computes the neighbourhoods of the queried
    nodes, which together may be the whole graph. Call this function again when the encoder's
    weights have changed; ``hag-meta`` changes them when it learns classes.

    Args:
        model: Model with a trained encoder.
        graph: Graph on disk; it may differ from the graph that the model was trained on.
        executor: Executor that computes the blocks; None uses this process.
        listener: Listener that receives progress events.
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
