"""HAG-Meta: pseudo-incremental meta-training with attention over nodes and over tasks."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.episodes.episode import Episode
from nodegraft.episodes.gpil import GPIL
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.graph.labels import Labelled
from nodegraft.graph.stream import Curriculum
from nodegraft.graph.view import GraphView
from nodegraft.methods.pretrained import Pretrained
from nodegraft.nn.encoders import GCN
from nodegraft.nn.prototypes import squared_distances
from nodegraft.training.meta import MetaTraining, leave_one_out
from nodegraft.training.session import HAGNetwork, Reading


@dataclass(frozen=True)
class Attention:
    """What both attentions say: class -> node key -> weight, and the tasks with theirs."""

    nodes: dict[str, dict[Key, float]]
    tasks: tuple[tuple[tuple[str, ...], float], ...]


@dataclass(kw_only=True)
class HAGMeta(Pretrained):
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
    ways: int | None = None
    shots: int | None = None
    queries: int | None = None
    base_shots: int = 20
    adapt: Literal["none", "support"] = "support"
    adapt_steps: int = 10
    tla_scale: Literal["literal", "classes"] = "literal"
    nla_normalise: Literal["class", "session"] = "class"
    nla_for: Literal["few-shot", "all"] = "few-shot"
    centrality: Literal["log1p", "paper"] = "log1p"
    last_relu: bool = False
    episodes: int = 1000

    name: ClassVar[str] = "hag-meta"
    summary: ClassVar[str] = (
        "meta-trained GCN, node attention in prototypes, task attention in the loss"
    )
    citation: ClassVar[str] = "Tan et al. 2022"

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train, practise, then one prototype for each known class."""
        curriculum = self._with_practice(curriculum)
        encoder = self.new_encoder(view.num_features)
        self.pretrain(encoder, view, curriculum)
        ways = min(self.ways or curriculum.ways, len(curriculum.pseudo_novel))
        self.shape_ = [len(curriculum.base), ways]
        network = self._network(encoder, self.seeds.torch_generator("attention"))
        if self.gpil and ways:
            self._practise(network, view, curriculum, ways)
        self.network_ = network.state_dict()
        self.prototypes_ = self._prototypes(view, curriculum.train, few_shot=False)
        self.kept_ = [self._sampled(curriculum.train)]

    def new_encoder(self, features: int) -> GCN:
        """The paper's, with ReLU behind the last layer where asked for."""
        generator = self.seeds.torch_generator("encoder")
        return GCN([features, self.hidden, self.out], generator, self.last_relu)

    def _with_practice(self, curriculum: Curriculum) -> Curriculum:
        if curriculum.pseudo_novel or curriculum.rehearsal is not None:
            return curriculum
        # Plain labels of a user's: half of the classes are kept for practice.
        names = self.seeds.generator("practice").permutation(curriculum.train.classes).tolist()
        return replace(curriculum, pseudo_novel=tuple(names[: len(names) // 2]))

    def _practise(
        self, network: HAGNetwork, view: GraphView, curriculum: Curriculum, ways: int
    ) -> None:
        shots = self.shots or curriculum.shots
        sampler = GPIL(
            train=curriculum.train,
            pseudo_novel=curriculum.pseudo_novel,
            ways=ways,
            shots=shots,
            queries=self.queries or shots,
            base_shots=self.base_shots,
        )
        train = self._training(self.episodes)
        episodes = sampler.episodes(self.seeds.generator("gpil"))
        train(network, view, episodes, curriculum.rehearsal, self.listener)

    def _sampled(self, train: Labelled) -> dict[str, list[int]]:
        # Base labels are many: adapting keeps a few of them, not adapting keeps none.
        count = self.base_shots if self.adapt == "support" else 0
        draws = self.seeds.generator("kept")
        return {name: draws.permutation(rows)[:count].tolist() for name, rows in train.items()}

    def _training(self, episodes: int) -> MetaTraining:
        return MetaTraining(
            episodes=episodes,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            patience=self.patience,
        )

    def learn_classes(self, view: GraphView, support: Labelled) -> None:
        """Prototypes of the new classes; adapting, some steps on kept supports come first."""
        self.kept_ = [*self.kept_, {name: rows.tolist() for name, rows in support.items()}]
        if self.adapt == "support":
            self._adapt(view)
        else:
            new = self._prototypes(view, support, few_shot=True)
            self.prototypes_ = torch.cat((self.prototypes_, new))

    def _adapt(self, view: GraphView) -> None:
        network = self._loaded()
        tasks = [Labelled(task) for task in self.kept_ if task]
        # Refuses a node that supports two classes now, not when an episode happens to draw it.
        Labelled({name: rows for task in tasks for name, rows in task.items()})
        draws = self.seeds.generator("adapt", str(len(tasks)))
        train = self._training(self.adapt_steps)
        episodes = (leave_one_out(tasks, draws) for _ in range(self.adapt_steps))
        # Where every class has a single support there is nothing to leave out.
        train(network, view, (episode for episode in episodes if len(episode.query)))
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
        network = self._loaded()
        tasks = [everything.only(task) for task in self.kept_ if task]
        self._training(1)(network, view, iter([Episode(tuple(tasks), queries)]))
        self._take(network, view, tasks)

    @torch.no_grad()
    def attention(self, graph: Graph | GraphView) -> Attention:
        """The weight of every few-shot support in its class, and of every task for the last one.

        An attention that is switched off weighs all alike.
        """
        view = self._checked(graph)
        network = self._loaded()
        nodes: dict[str, dict[Key, float]] = {}
        for task in (Labelled(task) for task in self.kept_[1:] if task):
            sizes = [rows.size for rows in task.values()]
            weights = network.support_weights(view, task)
            if not self.nla:
                weights = 1 / torch.tensor(sizes).repeat_interleave(torch.tensor(sizes))
            for (name, rows), part in zip(task.items(), torch.split(weights, sizes), strict=True):
                nodes[name] = dict(zip(view.keys_of(rows), part.tolist(), strict=True))
        names = [tuple(task) for task in self.kept_ if task]
        tasks = torch.split(self.prototypes_, [len(task) for task in names])
        shares = torch.full((len(tasks),), 1 / len(tasks))
        if self.tla != "off":
            shares = network.weigh_tasks(tasks)
        return Attention(nodes, tuple(zip(names, shares.tolist(), strict=True)))

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Minus the squared distance to each prototype."""
        return -squared_distances(self.embedding(view, rows), self.prototypes_)

    @torch.no_grad()
    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """The encoder's output."""
        return self._loaded().embed(view, rows)

    @torch.no_grad()
    def _prototypes(self, view: GraphView, support: Labelled, few_shot: bool) -> Tensor:
        return self._loaded().prototypes(view, support, few_shot)

    def _loaded(self) -> HAGNetwork:
        state: dict[str, Any] = self.network_
        start = "encoder."
        encoder = {
            name.removeprefix(start): value
            for name, value in state.items()
            if name.startswith(start)
        }
        network = self._network(GCN.from_state(encoder, self.last_relu), torch.Generator())
        network.load_state_dict(state)
        return network

    def _network(self, encoder: GCN, generator: torch.Generator) -> HAGNetwork:
        reading = Reading(
            nla=self.nla,
            tla=self.tla,
            tla_scale=self.tla_scale,
            nla_normalise=self.nla_normalise,
            nla_for=self.nla_for,
            centrality=self.centrality,
        )
        base, ways = self.shape_
        return HAGNetwork(encoder, reading, base=base, ways=ways, generator=generator)
