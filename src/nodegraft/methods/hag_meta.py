"""HAG-Meta: pseudo-incremental meta-training with attention over nodes and over tasks."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.constraints import FractionBelowOne, NonNegativeInt, PositiveInt
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.keys import Key
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.attention import weighted_means
from nodegraft.methods.neural.encoders import GCN, Encoder
from nodegraft.methods.neural.learners.hag import HAGNetwork, HAGOptions
from nodegraft.methods.neural.meta_training import MetaTraining, leave_one_out, macro_accuracy
from nodegraft.methods.neural.prototypes import published_embeddings, squared_distances
from nodegraft.methods.templates.episodic import Prototypical
from nodegraft.model.hooks import PublishedLesson
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.episodes.episode import Episode, sample_per_class
from nodegraft.streams.session import Session


@dataclass(frozen=True)
class Attention:
    """Weights of node-level and task-level attention."""

    nodes: dict[str, dict[Key, float]]
    """For each few-shot class: key of each support -> its attention weight."""

    tasks: tuple[tuple[tuple[str, ...], float], ...]
    """For each task, its class names and the attention weight that the last task gives to it."""


@dataclass(kw_only=True)
class HAGMeta(Prototypical[HAGNetwork]):
    r"""HAG-Meta, with parameters for cases where the paper's text, appendix and equations disagree.

    The encoder is pre-trained on the base classes. Then encoder and both attentions are
    meta-trained on episodes that add pseudo-novel classes (GPIL). A new class's prototype is
    :math:`p_k = \sum_j \lambda_j z_j` with node-level attention :math:`\lambda`; task-level
    attention weights the loss in meta-training. A session first takes some gradient steps on
    leave-one-out episodes of the supports stored so far. Tan et al. 2022,
    https://arxiv.org/abs/2112.12819.
    """

    gpil: bool = True
    """Whether to meta-train on pseudo-incremental episodes (GPIL); off in the paper's ablation."""

    nla: bool = True
    """Whether node-level attention weights supports; otherwise prototypes are plain means."""

    tla: Literal["off", "set", "class-axis"] = "set"
    """Form of task-level attention, which weights the loss: none (``off``), on sets of prototypes
    of any size (``set``), or along the class axis with a fixed N as in the paper's appendix
    (``class-axis``)."""

    base_shots: PositiveInt = 20
    """Number of supports of each base class in an episode, and stored for adaptation."""

    adapt: Literal["none", "support"] = "support"
    """Whether each session adapts the network by gradient steps on the supports. Adaptation
    increased accuracy on validation classes of two graphs."""

    adapt_steps: NonNegativeInt = 10
    """Number of gradient steps of an adaptation."""

    tla_scale: Literal["literal", "classes"] = "literal"
    """Scale of class weights: as in the paper (``literal``), which has almost no effect, or
    multiplied by the number of classes (``classes``)."""

    nla_normalise: Literal["class", "session"] = "class"
    """Normalisation of support weights: their sum is 1 within each class or over a session."""

    nla_for: Literal["few-shot", "all"] = "few-shot"
    """Classes whose supports are weighted by attention: few-shot classes only, or all."""

    centrality: Literal["log1p", "paper"] = "log1p"
    r"""Centrality of a node with degree :math:`d`: :math:`\log(1 + d)`, or the paper's
    :math:`\log(d + \epsilon)`, which gives isolated nodes the largest weight."""

    tla_goal: Literal["small-loss", "large-loss"] = "small-loss"
    """Whether task-level attention is trained to decrease the loss, as in the paper, or to increase
    it. It then gives the most weight to easy or to hard tasks, respectively.
    """

    nla_start: Literal["xavier", "wide"] = "xavier"
    """Scale of the initial weights of node-level attention: Xavier, which makes all scores nearly
    equal if there are thousands of columns, or the wider range of the authors' code."""

    attention_decay: bool = True
    """Whether weight decay applies to both attentions, too; otherwise it applies to the encoder
    only."""

    practice_dropout: FractionBelowOne = 0.0
    """Dropout rate of the encoder's hidden values in meta-training; 0.5 in the authors' code."""

    pretrain_on: Literal["base", "known"] = "base"
    """Classes for pre-training: the base classes as in the paper, or all known classes, which
    include pseudo-novel classes, as in the authors' code."""

    rehearse_adapted: bool = False
    """Whether sessions of a rehearsal also adapt by gradient steps. Early stopping then selects the
    weights that are best after adaptation, and meta-training takes longer."""

    last_relu: bool = False
    """Whether a ReLU follows the encoder's last layer, as in the paper."""

    shape_: list[int] = learned()
    """Two numbers: base classes, and classes that each meta-training episode added."""

    kept_: KeyedLabels = learned()
    """Stored supports: a sample for each base class, and all supports of other classes."""

    tasks_: list[list[str]] = learned()
    """Class names of each task; the base task comes first."""

    name: ClassVar[str] = "hag-meta"
    summary: ClassVar[str] = (
        "meta-trained GCN, node attention in prototypes, task attention in the loss"
    )
    citation: ClassVar[str] = "Tan et al. 2022"

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train the encoder, meta-train the network, then compute prototypes."""
        if self.tla == "class-axis" and self.adapt == "support":
            raise ParameterError(
                "tla='class-axis' is bound to as many classes as it practised on, and adapting has "
                "more: set adapt='none', or tla='set'."
            )
        curriculum = self.with_pseudo_novel(curriculum)
        self.shape_ = [len(curriculum.base), self.increment(curriculum)]
        super().learn_base(view, curriculum)
        # Base classes have many labels: store a few of them for adaptation, or none if ``adapt`` is
        # off.
        count = self.base_shots if self.adapt == "support" else 0
        sample = sample_per_class(curriculum.train, count, self.seeds.generator("kept"))
        self.kept_, self.tasks_ = KeyedLabels.of(sample, view), [list(sample)]

    def new_encoder(self, features: int) -> GCN:
        """Return the paper's encoder, with a ReLU after the last layer if ``last_relu`` is set."""
        return self.gcn(features, self.last_relu)

    def new_network(self, encoder: GCN) -> HAGNetwork:
        """Return a network of the encoder and both attentions."""
        options = HAGOptions(
            nla=self.nla,
            tla=self.tla,
            tla_scale=self.tla_scale,
            nla_normalise=self.nla_normalise,
            nla_for=self.nla_for,
            centrality=self.centrality,
            tla_goal=self.tla_goal,
            nla_start=self.nla_start,
            dropout=self.practice_dropout,
        )
        base, ways = self.shape_
        generator = self.seeds.torch_generator("attention")
        return HAGNetwork(encoder, options, num_base_classes=base, ways=ways, generator=generator)

    def pretrain(self, encoder: Encoder, view: GraphView, curriculum: Curriculum) -> Tensor:
        """Pre-train on the base classes or on all known classes, see ``pretrain_on``."""
        known = self.pretrain_on == "known"
        return super().pretrain(
            encoder, view, curriculum.without_pseudo_novel if known else curriculum
        )

    def training(self, episodes: int) -> MetaTraining:
        """Return the meta-training procedure with this method's settings."""
        attentions = ("node_attention.", "task_attention.")
        adapts = self.rehearse_adapted and self.adapt == "support"
        return replace(
            super().training(episodes),
            undecayed=() if self.attention_decay else attentions,
            rehearse=self._adapted_accuracy if adapts else None,
        )

    def _adapted_accuracy(self, network: HAGNetwork, sessions: list[Session]) -> float:
        """Return the accuracy of a rehearsal in which each session adapts the network."""
        pupil, tasks, accuracies = deepcopy(network), list[NodeLabels](), list[float]()
        draws = self.seeds.generator("adapt in rehearsal")
        for session in sessions:
            view, support = session.view, session.support
            if tasks:
                tasks.append(support)
                self._take_steps(pupil, view, tasks, draws)
                prototypes = self._prototypes(pupil, view, tasks)
            else:
                tasks.append(sample_per_class(support, self.base_shots, draws))
                prototypes = self._prototypes(pupil, view, [support])
            names = [name for task in tasks for name in task]
            with torch.no_grad():
                scores = pupil.score(view, session.query.rows(), prototypes)
            accuracies.append(macro_accuracy(scores, session.query, names))
        return float(np.mean(accuracies))

    def practice(self, curriculum: Curriculum) -> Iterator[Episode]:
        """Return pseudo-incremental episodes (GPIL); none if ``gpil`` is off."""
        return self.increments(curriculum, self.base_shots) if self.gpil else iter(())

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Adapt on stored supports if ``adapt`` is on, then add a prototype for each new class."""
        self.kept_ = KeyedLabels({**self.kept_, **KeyedLabels.of(support, view)})
        self.tasks_ = [*self.tasks_, list(support)]
        if self.adapt == "support":
            self._adapt(view)
        else:
            super().learn_classes(view, support)

    def _adapt(self, view: GraphView) -> None:
        network = self.network()
        tasks = self._tasks(view)
        self._take_steps(network, view, tasks, self.seeds.generator("adapt", str(len(tasks))))
        self._take(network, view, tasks)

    def _take_steps(
        self,
        network: HAGNetwork,
        view: GraphView,
        tasks: list[NodeLabels],
        draws: np.random.Generator,
    ) -> None:
        episodes = (leave_one_out(tasks, draws) for _ in range(self.adapt_steps))
        self.training(self.adapt_steps)(network, self.for_training(view), episodes)

    def _take(self, network: HAGNetwork, view: GraphView, tasks: list[NodeLabels]) -> None:
        self.network_ = network.state_dict()
        self.prototypes_ = self._prototypes(network, view, tasks)

    @torch.no_grad()
    def _prototypes(self, network: HAGNetwork, view: GraphView, tasks: list[NodeLabels]) -> Tensor:
        own = self.for_embedding(view)
        prototypes = [
            network.prototypes(own, task, few_shot=place > 0) for place, task in enumerate(tasks)
        ]
        return torch.cat(prototypes)

    def _tasks(self, view: GraphView) -> list[NodeLabels]:
        """Return the stored supports of each task, in the order of ``tasks_``."""
        supports = self.kept_.on(view)
        return [supports.select(names) for names in self.tasks_ if names]

    def rename_learned(self, names: Mapping[str, str]) -> None:
        """Rename classes in the list of tasks."""
        self.tasks_ = [[names.get(name, name) for name in task] for task in self.tasks_]

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the prototypes and supports of the removed classes."""
        self.prototypes_ = self.prototypes_[torch.from_numpy(columns)]
        names = {self.classes_[column]: None for column in columns}
        self.kept_ = self.kept_.select(names)
        tasks = [[name for name in task if name in names] for task in self.tasks_]
        # The base stays the first task, even if all its classes are removed.
        self.tasks_ = [task for place, task in enumerate(tasks) if task or not place]

    def scores_as_published(self, lesson: PublishedLesson) -> Tensor:
        """Score by distances to prototypes, then take a gradient step on the query loss."""
        network, noise = self.network(), np.random.default_rng(lesson.seed)

        def attended(new: NodeLabels, vectors: Tensor) -> Tensor:
            weights = network.support_weights(lesson.view, new)
            places = torch.from_numpy(new.targets(new.classes))
            return weighted_means(vectors, weights, places, len(new))

        def scores() -> tuple[Tensor, Tensor]:
            prototypes, queries = published_embeddings(network.encoder, lesson, noise, attended)
            return prototypes, -squared_distances(queries, prototypes)

        prototypes, before = scores()
        if lesson.step:
            tasks = torch.split(prototypes, [len(task) for task in lesson.tasks])
            loss, _ = network.weighted_loss(tasks, before, lesson.targets)
            loss.backward()  # type: ignore[no-untyped-call]
            self.training(1).optimiser(network).step()
            labels = self.labels_.on(lesson.view)
            self._take(network, lesson.view, [labels.select(names) for names in self.tasks_])
        return before if lesson.before_step else scores()[1]

    @torch.no_grad()
    def attention(self, graph: GraphView) -> Attention:
        """Return the weight of every support of few-shot classes, and of every task.

        Weights are equal if the attention is off.

        Args:
            graph: Graph, or its visible part.
        """
        model = self._now()
        model._check(graph)
        return model._attention(graph)

    def _attention(self, view: GraphView) -> Attention:
        network, supports = self.network(), self.kept_.on(view)
        nodes: dict[str, dict[Key, float]] = {}
        for task in (supports.select(names) for names in self.tasks_[1:]):
            sizes = [rows.size for rows in task.values()]
            weights = torch.split(network.support_weights(view, task), sizes)
            for (name, rows), part in zip(task.items(), weights, strict=True):
                nodes[name] = dict(zip(view.keys_of(rows), part.tolist(), strict=True))
        names = [tuple(task) for task in self.tasks_ if task]
        tasks = torch.split(self.prototypes_, [len(task) for task in names])
        shares = self.prototypes_.new_full((len(tasks),), 1 / len(tasks))
        if self.tla != "off":
            shares = network.weigh_tasks(tasks)
        return Attention(nodes, tuple(zip(names, shares.tolist(), strict=True)))
