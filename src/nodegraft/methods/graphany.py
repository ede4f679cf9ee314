"""GraphAny: five least-squares fits, which a small network combines."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.base.errors import NotSupportedError
from nodegraft.base.parameters.constraints import (
    FractionBelowOne,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
)
from nodegraft.graph.edges.matrix import gram
from nodegraft.graph.growth.rows_view import RowsView
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.linear import channels
from nodegraft.methods.neural.device import (
    CPU,
    Device,
    device_of,
    placed,
    to_tensor,
    training_device,
)
from nodegraft.methods.neural.encoders import apply_dropout
from nodegraft.methods.templates.derived import Derived
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum

LOW_PASS = 3
"""Number of channels whose predictions are combined: the first three, X, PX and P²X. The other
channels are used for similarities only."""


@dataclass(kw_only=True)
class GraphAny(Derived[channels.Floats]):
    r"""Combination of least-squares predictions from five filters of the features.

    The channels are :math:`F = [X, PX, P^2X, (I - P)X, (I - P)^2X]` with :math:`P = D^{-1}A`. Each
    has a least-squares fit to the labels, :math:`\hat Y_i = F_i F_{i,L}^+ Y_L`.

    A node's squared distances among its five predictions become conditional Gaussian
    similarities, :math:`p_{j|i} \propto \exp(-d_{ij}^2 / 2 \sigma_i^2)`, with :math:`\sigma_i` such
    that the entropy is ``entropy`` bits: 20 numbers whose meaning does not depend on features or
    classes. A two-layer network maps them to weights :math:`\alpha` of the first three channels,
    and scores are :math:`\sum_i \alpha_i \hat Y_i`. The network is trained once, on the classes
    known at ``fit``: each step draws references and queries from their labels, and minimises the
    cross-entropy of the queries. Zhao et al. 2025, https://arxiv.org/abs/2405.20445.

    Differences from the source: the paper trains on one graph and predicts on another. Here the
    network trains on the first classes and predicts later classes. Adding a class recomputes the
    least-squares fits but trains nothing. Fits use at most ``kept_labels`` labels of each class and
    are solved in dual form.
    """

    penalty: NonNegativeFloat = 0.0
    """Strength of L2 regularisation. 0 uses the paper's minimum-norm fit, in which a class with
    five labels has little weight compared to classes with sixty. Above 0, all classes have equal
    weight."""

    kept_labels: PositiveInt = 60
    """Maximum number of labels used for each class, selected by the hash of their keys."""

    references: PositiveInt = 5
    """Number of labels of each class to which a training step fits the channels."""

    batch: PositiveInt = 128
    """Maximum number of labelled nodes that a training step predicts, besides those it fits."""

    steps: NonNegativeInt = 1000
    """Number of training steps of the network; 0 keeps the initial weights."""

    hidden: PositiveInt = 128
    """Width of the network's hidden layer."""

    learning_rate: PositiveFloat = 0.0002
    """AdamW's step size."""

    weight_decay: NonNegativeFloat = 0.02
    """Weight decay of AdamW."""

    dropout: FractionBelowOne = 0.5
    """Dropout rate of hidden values in each training step."""

    temperature: PositiveFloat = 5.0
    """Divisor of the network's outputs before the softmax."""

    entropy: PositiveFloat = 1.0
    """Entropy in bits of each channel's similarities to the four others; at most 2."""

    device: Device = "auto"
    """Device on which networks are trained, ``"cpu"`` or ``"cuda"``; ``"auto"`` is CUDA if PyTorch
    has a CUDA device. Predictions run on the CPU. CUDA was never tested on hardware."""

    mixer_: dict[str, Tensor] = learned()
    """Weights of the network that combines the channels."""

    name: ClassVar[str] = "graphany"
    summary: ClassVar[str] = "five least-squares fits, mixed by how much their predictions differ"
    citation: ClassVar[str] = "Zhao et al. 2025 (GraphAny)"
    reversible: ClassVar[bool] = True

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Train the network on the known classes, then fit to all their labels."""
        mixer = self._new_mixer()
        with placed(mixer, training_device(self.device)):
            self._train(mixer, view, self.labels_.on(view, self.kept_labels))
        self.mixer_ = mixer.state_dict()
        super().learn_base(view, curriculum)

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> channels.Floats:
        """Return the combined predictions of all channels."""
        return self.derived(view)[view.positions(rows)]

    def derive(self, view: GraphView) -> channels.Floats:
        """Predict all visible nodes by each channel, and combine the predictions."""
        labels = self.labels_.on(view, self.kept_labels)
        counts = np.array([*labels.counts().values()])
        weights = [
            rows.T @ channels.least_squares(gram(rows), counts, self.penalty)
            for rows in channels.channel_rows(view, view.positions(labels.rows()))
        ]
        predictions = channels.channel_predictions(view, weights)
        mixer = self._new_mixer()
        mixer.load_state_dict(self.mixer_)
        with torch.no_grad():
            shares = mixer(to_tensor(channels.similarities(predictions, self.entropy), CPU)).numpy()
        return np.asarray(np.einsum("ni,nic->nc", shares, predictions[:, :LOW_PASS]))

    def for_rows(self, value: channels.Floats, view: RowsView) -> channels.Floats:
        """Raise an error: rows that are not in the graph cannot be predicted."""
        raise NotSupportedError(self.name, "predict rows that are not in the graph")

    def _new_mixer(self) -> "Mixer":
        generator = self.seeds.torch_generator("mixer")
        return Mixer(self.hidden, self.dropout, self.temperature, generator)

    def _train(self, mixer: "Mixer", view: GraphView, labels: NodeLabels) -> None:
        draws = self.seeds.generator("references")
        noise = self.seeds.generator("dropout")
        rows, counts = labels.rows(), np.array([*labels.counts().values()])
        products = [gram(own) for own in channels.channel_rows(view, view.positions(rows))]
        device = device_of(mixer)
        targets = to_tensor(np.repeat(np.arange(counts.size), counts), device)
        shots = np.minimum(self.references, np.maximum(counts - 1, 1))
        starts = np.cumsum(counts) - counts
        optimiser = torch.optim.AdamW(
            mixer.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay
        )
        for number in range(1, self.steps + 1):
            known = [
                start + draws.permutation(count)[:some]
                for start, count, some in zip(starts, counts, shots, strict=True)
            ]
            reference = np.concatenate(known)
            query = draws.permutation(np.setdiff1d(np.arange(rows.size), reference))[: self.batch]
            if query.size < 2:
                return  # Batch normalisation needs at least two nodes.
            among, across = np.ix_(reference, reference), np.ix_(query, reference)
            predictions = [
                own[across] @ channels.least_squares(own[among], shots, self.penalty)
                for own in products
            ]
            stacked = np.stack(predictions, axis=1)
            similarity = channels.similarities(stacked, self.entropy)
            shares = mixer(to_tensor(similarity, device), noise)
            low_pass = to_tensor(stacked[:, :LOW_PASS], device)
            mixed = torch.einsum("ni,nic->nc", shares, low_pass)
            loss = F.cross_entropy(mixed, targets[query])
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            self.listener.step("train", number, self.steps, loss=loss.item())


class Mixer(nn.Module):
    """Network that maps similarities of channels to weights of the first three channels.

    Args:
        hidden: Width of the hidden layer.
        dropout: Dropout rate of hidden values in training.
        temperature: Divisor of the outputs before the softmax.
        generator: Random generator for the initial weights.
    """

    def __init__(
        self, hidden: int, dropout: float, temperature: float, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.dropout, self.temperature = dropout, temperature
        # PyTorch layers use the global random generator. Restore its state, which belongs to the
        # user.
        with torch.random.fork_rng(devices=[]):
            self.first = nn.Linear(20, hidden, dtype=torch.float64, device=CPU)
            self.last = nn.Linear(hidden, LOW_PASS, dtype=torch.float64, device=CPU)
        for layer in (self.first, self.last):
            nn.init.xavier_uniform_(layer.weight, generator=generator)
            nn.init.zeros_(layer.bias)
        self.normalise = nn.BatchNorm1d(hidden, dtype=torch.float64, device=CPU)

    def forward(self, similarity: Tensor, noise: np.random.Generator | None = None) -> Tensor:
        """Return channel weights for each node, which sum to 1.

        Args:
            similarity: Similarities of channels, 20 numbers for each node.
            noise: Random generator for dropout in training; None for predictions.
        """
        self.train(noise is not None)
        hidden = self.normalise(self.first(similarity).relu())
        hidden = apply_dropout(hidden, self.dropout, noise)
        return torch.softmax(self.last(hidden) / self.temperature, dim=1)
