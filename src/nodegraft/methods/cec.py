"""CEC: a frozen encoder, and class means that adapt to each other by attention."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from nodegraft.base.parameters.constraints import PositiveFloat, PositiveInt
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.encoders import GCN
from nodegraft.methods.neural.learners.prototypes import EvolvedClassifier
from nodegraft.methods.neural.training import MetaTraining
from nodegraft.methods.templates.episodic import Prototypical
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.episodes.episode import Episode


@dataclass(kw_only=True)
class CEC(Prototypical[EvolvedClassifier]):
    r"""Continually evolved classifiers, with a graph encoder.

    .. math::
        w_k = \frac{1}{|S_k|} \sum_{j \in S_k} z_j, \quad
        w_k' = w_k + \sum_l \mathrm{softmax}_l(\langle Q w_k, K w_l \rangle / \sqrt h) \, U w_l,
        \quad p(y = k \mid q) \propto \exp(\tau \cos(z_q, w_k'))

    The encoder is pre-trained on the base classes and frozen. The attention over all classifiers
    practises on pseudo-increments; when classes arrive their means join, and the attention is run
    over all of them. Zhang et al. 2021, https://arxiv.org/abs/2104.03047.

    Adapted: the pseudo-new classes of an episode are pseudo-novel ones of the split (images can be
    rotated into new classes, nodes cannot); the encoder is the shared one, pre-trained with a
    linear rather than a cosine classifier. A query takes no part in the attention, as in the
    source's equations (its code lets it). Removing a class would change all others' scores, so it
    is not offered.
    """

    temperature: PositiveFloat = 16.0
    r"""What cosines are multiplied by (:math:`\tau`)."""

    base_shots: PositiveInt = 20
    """Supports of each base class in an episode."""

    attention_rate: PositiveFloat = 0.0002
    """Adam's step size for the attention."""

    name: ClassVar[str] = "cec"
    summary: ClassVar[str] = "frozen GCN, class means adapted by attention among them, cosine"
    citation: ClassVar[str] = "Zhang et al. 2021"

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train and freeze the encoder, practise increments, then compute the class means."""
        super().learn_base(view, self.with_pseudo_novel(curriculum))

    def new_network(self, encoder: GCN) -> EvolvedClassifier:
        """Put the attention beside the encoder, which is frozen."""
        draws = self.seeds.torch_generator("prototype attention")
        return EvolvedClassifier(encoder, self.temperature, draws)

    def practice(self, curriculum: Curriculum) -> Iterator[Episode]:
        """Return increments of the base classes by pseudo-novel ones."""
        return self.increments(curriculum, self.base_shots)

    def training(self, episodes: int) -> MetaTraining:
        """Use a learning rate of its own for the attention."""
        return replace(super().training(episodes), learning_rate=self.attention_rate)
