"""CEC: a frozen encoder, and class means that adapt to each other by attention."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from nodegraft.base.parameters.constraints import PositiveFloat, PositiveInt
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.encoders import GCN
from nodegraft.methods.neural.learners.prototypes import EvolvedClassifier
from nodegraft.methods.neural.meta_training import MetaTraining
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

    The encoder is pre-trained on the base classes and frozen. The attention over all class means is
    trained on pseudo-incremental episodes. New classes add their means, and the attention then runs
    over all of them. Zhang et al. 2021, https://arxiv.org/abs/2104.03047.

    Differences from the source: the new classes of an episode are the pseudo-novel classes of the
    split, because nodes cannot be rotated into new classes like images. The encoder is the GCN of
    the other methods here, pre-trained with a linear instead of a cosine classifier. The attention
    does not include the queries: this follows the equations of the paper, although its code
    includes them. Removing a class is not supported, because it would change the scores of all
    other classes.
    """

    temperature: PositiveFloat = 16.0
    r"""Factor of the cosines before the softmax (:math:`\tau`)."""

    base_shots: PositiveInt = 20
    """Number of supports of each base class in an episode."""

    attention_rate: PositiveFloat = 0.0002
    """Adam's step size for the attention."""

    name: ClassVar[str] = "cec"
    summary: ClassVar[str] = "frozen GCN, class means adapted by attention among them, cosine"
    citation: ClassVar[str] = "Zhang et al. 2021"

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train and freeze the encoder, train the attention, then compute the class means."""
        super().learn_base(view, self.with_pseudo_novel(curriculum))

    def new_network(self, encoder: GCN) -> EvolvedClassifier:
        """Return a network of the frozen encoder and a new attention."""
        draws = self.seeds.torch_generator("prototype attention")
        return EvolvedClassifier(encoder, self.temperature, draws)

    def practice(self, curriculum: Curriculum) -> Iterator[Episode]:
        """Return episodes that add pseudo-novel classes to the base classes."""
        return self.increments(curriculum, self.base_shots)

    def training(self, episodes: int) -> MetaTraining:
        """Return the meta-training procedure with the learning rate of the attention."""
        return replace(super().training(episodes), learning_rate=self.attention_rate)
