"""GraphAny: five least-squares fits, mixed by a small network that sees how they differ."""

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
from nodegraft.methods.neural.encoders import apply_dropout
from nodegraft.methods.templates.derived import Derived
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum

LOW_PASS = 3
"""The first channels, which are mixed: X, PX and P²X. The others only tell how these differ."""


@dataclass(kw_only=True)
class GraphAny(Derived[channels.Floats]):
    r"""Five channels :math:`F = [X, PX, P^2X, (I - P)X, (I - P)^2X]` with :math:`P = D^{-1}A`, each
    with a least-squares fit to the labels, :math:`\hat Y_i = F_i F_{i,L}^+ Y_L`.

    A node's squared distances among its five predictions become conditional Gaussian
    similarities, :math:`p_{j|i} \propto \exp(-d_{ij}^2 / 2 \sigma_i^2)`, with :math:`\sigma_i` such
    that the entropy is ``entropy`` bits: 20 numbers that do not depend on features or classes. A
    network of two layers turns them into weights :math:`\alpha` of the first three channels, and
    scores are :math:`\sum_i \alpha_i \hat Y_i`. The network is trained once, on the classes known
    at ``fit``: each step draws references and queries among their labels, and takes the
    cross-entropy of the queries. Zhao et al. 2025, https://arxiv.org/abs/2405.20445.

    Adapted: the paper trains on one graph and predicts another; here it trains on the first classes
    and predicts later ones. A new class needs one more fit and no training. Labels of a class
    are at most ``kept_labels``, and fits are solved among the labels.
    """

    penalty: NonNegativeFloat = 0.0
    """0 takes the paper's minimum-norm fit, in which a class of five labels counts little beside
    classes of sixty; above 0 classes count alike, with weights drawn to zero by this much."""

    kept_labels: PositiveInt = 60
    """At most so many labels of a class take part, drawn by the hash of their keys."""

    references: PositiveInt = 5
    """Labels of each class that a training step fits to."""

    batch: PositiveInt = 128
    """Other labels that a training step predicts."""

    steps: NonNegativeInt = 1000
    """Training steps of the network; 0 leaves it as drawn."""

    hidden: PositiveInt = 128
    """Width of its hidden layer."""

    learning_rate: PositiveFloat = 0.0002
    """AdamW's step size."""

    weight_decay: NonNegativeFloat = 0.02
    """How strongly AdamW draws weights to zero."""

    dropout: FractionBelowOne = 0.5
    """The share of hidden numbers that is dropped in each training step."""

    temperature: PositiveFloat = 5.0
    """What the network's outputs are divided by before the softmax."""

    entropy: PositiveFloat = 1.0
    """Bits of each channel's similarities; 2 makes the other four channels alike."""

    mixer_: dict[str, Tensor] = learned()
    """Weights of the network."""

    name: ClassVar[str] = "graphany"
    summary: ClassVar[str] = "five least-squares fits, mixed by how much their predictions differ"
    citation: ClassVar[str] = "Zhao et al. 2025 (GraphAny)"
    reversible: ClassVar[bool] = True

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Train the network on the known classes, then fit to all their labels."""
        mixer = self._new_mixer()
        self._train(mixer, view, self.labels_.on(view, self.kept_labels))
        self.mixer_ = mixer.state_dict()
        super().learn_base(view, curriculum)

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> channels.Floats:
        """Return the mixed predictions."""
        return self.derived(view)[view.positions(rows)]

    def derive(self, view: GraphView) -> channels.Floats:
        """Predict all visible nodes by each channel, and mix the predictions."""
        labels = self.labels_.on(view, self.kept_labels)
        counts = label_counts(labels)
        weights = [
            rows.T @ channels.least_squares(gram(rows), counts, self.penalty)
            for rows in channels.channel_rows(view, view.positions(labels.rows()))
        ]
        predictions = channels.channel_predictions(view, weights)
        mixer = self._new_mixer()
        mixer.load_state_dict(self.mixer_)
        with torch.no_grad():
            shares = mixer(
                torch.from_numpy(channels.similarities(predictions, self.entropy))
            ).numpy()
        return np.asarray(np.einsum("ni,nic->nc", shares, predictions[:, :LOW_PASS]))

    def for_rows(self, value: channels.Floats, view: RowsView) -> channels.Floats:
        """Refuse rows that are not in the graph: predictions are derived for stored nodes only."""
        raise NotSupportedError(self.name, "predict rows that are not in the graph")

    def _new_mixer(self) -> "Mixer":
        generator = self.seeds.torch_generator("mixer")
        return Mixer(self.hidden, self.dropout, self.temperature, generator)

    def _train(self, mixer: "Mixer", view: GraphView, labels: NodeLabels) -> None:
        draws = self.seeds.generator("references")
        noise = self.seeds.generator("dropout")
        rows, counts = labels.rows(), label_counts(labels)
        products = [gram(own) for own in channels.channel_rows(view, view.positions(rows))]
        targets = torch.from_numpy(np.repeat(np.arange(counts.size), counts))
        taken = np.minimum(self.references, np.maximum(counts - 1, 1))
        starts = np.cumsum(counts) - counts
        optimiser = torch.optim.AdamW(
            mixer.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay
        )
        for number in range(1, self.steps + 1):
            known = [
                start + draws.permutation(count)[:some]
                for start, count, some in zip(starts, counts, taken, strict=True)
            ]
            reference = np.concatenate(known)
            query = draws.permutation(np.setdiff1d(np.arange(rows.size), reference))[: self.batch]
            if query.size < 2:
                return  # Batch normalisation needs two nodes.
            among, across = np.ix_(reference, reference), np.ix_(query, reference)
            predictions = [
                own[across] @ channels.least_squares(own[among], taken, self.penalty)
                for own in products
            ]
            stacked = np.stack(predictions, axis=1)
            shares = mixer(torch.from_numpy(channels.similarities(stacked, self.entropy)), noise)
            mixed = torch.einsum("ni,nic->nc", shares, torch.from_numpy(stacked[:, :LOW_PASS]))
            loss = F.cross_entropy(mixed, targets[query])
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            self.listener.step("train", number, self.steps, loss=loss.item())


class Mixer(nn.Module):
    """Network that turns similarities among channels into weights of the first three.

    Args:
        hidden: Width of the hidden layer.
        dropout: Share of hidden numbers that is dropped in training.
        temperature: What outputs are divided by before the softmax.
        generator: Draws the first weights.
    """

    def __init__(
        self, hidden: int, dropout: float, temperature: float, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.dropout, self.temperature = dropout, temperature
        # Layers draw from the global generator, which belongs to the user.
        with torch.random.fork_rng(devices=[]):
            self.first = nn.Linear(20, hidden, dtype=torch.float64)
            self.last = nn.Linear(hidden, LOW_PASS, dtype=torch.float64)
        for layer in (self.first, self.last):
            nn.init.xavier_uniform_(layer.weight, generator=generator)
            nn.init.zeros_(layer.bias)
        self.normalise = nn.BatchNorm1d(hidden, dtype=torch.float64)

    def forward(self, similarity: Tensor, noise: np.random.Generator | None = None) -> Tensor:
        """Return a row of weights, which sum to 1, for each node.

        Args:
            similarity: Similarities among channels, 20 numbers for each node.
            noise: Decides what is dropped, in training; None for predictions.
        """
        self.train(noise is not None)
        hidden = self.normalise(self.first(similarity).relu())
        hidden = apply_dropout(hidden, self.dropout, noise)
        return torch.softmax(self.last(hidden) / self.temperature, dim=1)


def label_counts(labels: NodeLabels) -> NDArray[np.int64]:
    """Return the number of labels of each class."""
    return np.array([rows.size for rows in labels.values()], dtype=np.int64)
