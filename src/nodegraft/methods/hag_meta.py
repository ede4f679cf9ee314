"""HAG-Meta: pseudo-incremental meta-training with attention over nodes and over tasks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from nodegraft.episodes.episode import Episode, draw_some
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.graph.labels import Labelled
from nodegraft.graph.stream import Curriculum
from nodegraft.graph.view import GraphView
from nodegraft.methods.episodic import Prototypical
from nodegraft.nn.encoders import GCN
from nodegraft.training.meta import leave_one_out
from nodegraft.training.session import HAGNetwork, Reading


@dataclass(frozen=True)
class Attention:
    """What both attentions say: class -> node key -> weight, and the tasks with theirs."""

    nodes: dict[str, dict[Key, float]]
    tasks: tuple[tuple[tuple[str, ...], float], ...]


@dataclass(kw_only=True)
class HAGMeta(Prototypical[HAGNetwork]):
    r"""The paper's system, as read by ``algorithm.md``.

    The encoder is pre-trained on the base classes, then encoder and both attentions practise
    increments on the pseudo-novel ones (GPIL). A new class's prototype is
    :math:`p_k = \sum_j \lambda_j z_j` with node-level attention :math:`\lambda`; task-level
    attention weighs the loss while practising. Practice has the N and K of the stream unless
    ``ways`` and ``shots`` are set. A session first takes some gradient steps on leave-one-out
    episodes over the supports kept so far: better on validation classes than not to
    (``adapt="none"``). Tan et al. 2022, https://arxiv.org/abs/2112.12819.
    """

    gpil: bool = True
    nla: bool = True
    tla: Literal["off", "set", "class-axis"] = "set"
    base_shots: int = 20
    adapt: Literal["none", "support"] = "support"
    adapt_steps: int = 10
    tla_scale: Literal["literal", "classes"] = "literal"
    nla_normalise: Literal["class", "session"] = "class"
    nla_for: Literal["few-shot", "all"] = "few-shot"
    centrality: Literal["log1p", "paper"] = "log1p"
    last_relu: bool = False

    name: ClassVar[str] = "hag-meta"
    summary: ClassVar[str] = (
        "meta-trained GCN, node attention in prototypes, task attention in the loss"
    )
    citation: ClassVar[str] = "Tan et al. 2022"

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train, practise, then one prototype for each known class."""
        curriculum = self.with_pseudo_novel(curriculum)
        self.shape_ = [len(curriculum.base), self.increment(curriculum)]
        super().learn_base(view, curriculum)
        # Base labels are many: adapting keeps a few of them, not adapting keeps none.
        count = self.base_shots if self.adapt == "support" else 0
        self.kept_ = [draw_some(curriculum.train, count, self.seeds.generator("kept")).lists()]

    def new_encoder(self, features: int) -> GCN:
        """The paper's, with ReLU behind the last layer where asked for."""
        return self.gcn(features, self.last_relu)

    def new_network(self, encoder: GCN) -> HAGNetwork:
        """Both attentions beside the encoder."""
        reading = Reading(
            nla=self.nla,
            tla=self.tla,
            tla_scale=self.tla_scale,
            nla_normalise=self.nla_normalise,
            nla_for=self.nla_for,
            centrality=self.centrality,
        )
        base, ways = self.shape_
        generator = self.seeds.torch_generator("attention")
        return HAGNetwork(encoder, reading, base=base, ways=ways, generator=generator)

    def practice(self, curriculum: Curriculum) -> Iterator[Episode]:
        """GPIL, unless it is ablated."""
        return self.increments(curriculum, self.base_shots) if self.gpil else iter(())

    def learn_classes(self, view: GraphView, support: Labelled) -> None:
        """Prototypes of the new classes; adapting, some steps on kept supports come first."""
        self.kept_ = [*self.kept_, support.lists()]
        if self.adapt == "support":
            self._adapt(view)
        else:
            super().learn_classes(view, support)

    def _adapt(self, view: GraphView) -> None:
        network = self.network()
        tasks = [Labelled(task) for task in self.kept_ if task]
        # Refuses a node that supports two classes now, not when an episode happens to draw it.
        Labelled({name: rows for task in tasks for name, rows in task.items()})
        draws = self.seeds.generator("adapt", str(len(tasks)))
        episodes = (leave_one_out(tasks, draws) for _ in range(self.adapt_steps))
        self.training(self.adapt_steps)(network, view, episodes)
        self._take(network, view, tasks)

    @torch.no_grad()
    def _take(self, network: HAGNetwork, view: GraphView, tasks: list[Labelled]) -> None:
        self.network_ = network.state_dict()
        prototypes = [
            network.prototypes(view, task, few_shot=place > 0) for place, task in enumerate(tasks)
        ]
        self.prototypes_ = torch.cat(prototypes)

    def unlearn_classes(self, kept: NDArray[np.int64]) -> None:
        """Drop the other prototypes and supports."""
        self.prototypes_ = self.prototypes_[torch.from_numpy(kept)]
        names = {self.classes_[column] for column in kept}
        self.kept_ = [
            {name: rows for name, rows in task.items() if name in names} for task in self.kept_
        ]

    def learn_as_published(self, view: GraphView, everything: Labelled, queries: Labelled) -> None:
        """One step on the loss of the queries; prototypes over all nodes."""
        network = self.network()
        tasks = [everything.only(task) for task in self.kept_ if task]
        self.training(1)(network, view, iter([Episode(tuple(tasks), queries)]))
        self._take(network, view, tasks)

    @torch.no_grad()
    def attention(self, graph: Graph | GraphView) -> Attention:
        """The weight of every few-shot support in its class, and of every task for the last one.

        An attention that is switched off weighs all alike.
        """
        view = self._checked(graph)
        network = self.network()
        nodes: dict[str, dict[Key, float]] = {}
        for task in (Labelled(task) for task in self.kept_[1:] if task):
            sizes = [rows.size for rows in task.values()]
            weights = torch.split(network.support_weights(view, task), sizes)
            for (name, rows), part in zip(task.items(), weights, strict=True):
                nodes[name] = dict(zip(view.keys_of(rows), part.tolist(), strict=True))
        names = [tuple(task) for task in self.kept_ if task]
        tasks = torch.split(self.prototypes_, [len(task) for task in names])
        shares = torch.full((len(tasks),), 1 / len(tasks))
        if self.tla != "off":
            shares = network.weigh_tasks(tasks)
        return Attention(nodes, tuple(zip(names, shares.tolist(), strict=True)))
