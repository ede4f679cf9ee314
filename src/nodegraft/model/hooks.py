"""What the author of a method writes: three hooks, and optional ones that declare abilities."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.errors import NotSupportedError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.parameters.constraints import NonNegativeInt
from nodegraft.base.parameters.validate import validate
from nodegraft.base.seeds import Seeds
from nodegraft.graph.algebra.matrix import Matrix
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.model.capability import Capability
from nodegraft.model.confidence import World, confidence
from nodegraft.model.published import PublishedLesson
from nodegraft.streams.curriculum import Curriculum

_HOOKS = {
    Capability.ADD_LABELS: "learn_labels",
    Capability.SET_LABELS: "relearn",
    Capability.REMOVE_CLASSES: "keep_classes",
    Capability.EXPLAIN: "explain_node",
    Capability.CALIBRATED: "probabilities",
    Capability.EMBED: "embedding",
    Capability.PUBLISHED: "scores_as_published",
}


@dataclass(kw_only=True)
class Hooks(ABC):
    """Subclass :class:`~nodegraft.model.method.Method` as a keyword-only dataclass.

    Fields are hyper-parameters; they are checked against their annotations whenever an instance
    is built. What is learned is declared beside them with
    :func:`~nodegraft.model.learned.learned` under a name that ends in ``_``: arrays, tensors, a
    dict of tensors, labels by key, or plain JSON. It is saved, loaded, counted and rolled back
    without further work. Hooks replace such attributes rather than write into them, and see the
    graph only through the view they are given. Nodes to be kept are kept by their keys
    (:class:`~nodegraft.graph.keyed_labels.KeyedLabels`), since rows may be others tomorrow. Rows
    reach the hooks each once and ascending; columns of the scores are classes in the order in
    which they were learned. ``labels_`` holds every label, new ones included, when a hook is
    called; ``methods/templates/derived.py`` keeps what follows from it and the graph.
    """

    seed: NonNegativeInt = 0
    """Every draw of the method comes from it: the same seed gives the same model."""

    name: ClassVar[str]
    """What the method is called on the command line and in records."""
    summary: ClassVar[str]
    """What it does, in one line."""
    citation: ClassVar[str] = ""
    """Whose it is."""
    many_shot: ClassVar[bool] = False
    """Whether it is an upper reference: new classes are taught by most of their nodes."""
    reversible: ClassVar[bool] = False
    """Whether removing classes that were added leaves the state as if they had never come."""
    block_rows: ClassVar[int] = 65_536
    """How many nodes are scored at once."""

    def __post_init__(self) -> None:
        validate(self)

    # The three hooks.

    @abstractmethod
    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Learn the classes of ``curriculum.train``, in its order.

        Args:
            view: What may be seen of the graph.
            curriculum: Labels of the known classes, and ways to practise.
        """

    @abstractmethod
    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Learn more classes, in the order of ``support``, after the ones already known.

        Args:
            view: What may be seen of the graph.
            support: The labels of the new classes.
        """

    @abstractmethod
    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor | NDArray[Any]:
        """One row per node, one column per known class; larger means more likely.

        Args:
            view: What may be seen of the graph.
            rows: The nodes asked about, each once and ascending.
        """

    def check_learned(self) -> None:  # noqa: B027
        """Raise a ValueError where learned arrays that were loaded do not fit together.

        Called once after loading. A method overrides it whose kernels would read beyond arrays
        that come from a damaged file.
        """

    def rename_learned(self, names: Mapping[str, str]) -> None:  # noqa: B027
        """Replace class names in learned attributes that are not ``KeyedLabels``.

        Most methods know classes by their columns alone and need not override it.

        Args:
            names: Class name -> its other name.
        """

    # Optional hooks; each one overridden is a capability declared.

    def learn_labels(
        self, view: GraphView, support: NodeLabels, columns: NDArray[np.int64]
    ) -> None:
        """Learn from more nodes of known classes.

        What comes out is as if the nodes had been there when their class was first learned.

        Args:
            view: What may be seen of the graph.
            support: The additional labels.
            columns: The column of each of ``support``'s classes.
        """
        raise NotSupportedError(self.name, Capability.ADD_LABELS)

    def relearn(self, view: GraphView) -> None:
        """Take ``labels_`` as they are now, whichever classes they are of and whatever was before.

        What was found out when the model was fitted, and is no label, stays.

        Args:
            view: What may be seen of the graph.
        """
        raise NotSupportedError(self.name, Capability.SET_LABELS)

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Keep only these columns: all other classes are removed.

        Args:
            columns: The columns that stay, ascending.
        """
        raise NotSupportedError(self.name, Capability.REMOVE_CLASSES)

    def explain_node(self, view: GraphView, row: int) -> dict[str, Any]:
        """Why a node scores as it does, as plain JSON.

        Args:
            view: What may be seen of the graph.
            row: The node.
        """
        raise NotSupportedError(self.name, Capability.EXPLAIN)

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor | Matrix:
        """The vectors the scores are made from.

        Args:
            view: What may be seen of the graph.
            rows: The nodes asked about, each once and ascending.
        """
        raise NotSupportedError(self.name, Capability.EMBED)

    def scores_as_published(self, lesson: PublishedLesson) -> Tensor | NDArray[Any]:
        """Scores, and a step on the labels they are about; only the published protocol calls it.

        Args:
            lesson: Labels that an honest method never sees. The result has a row for each of
                ``lesson.query.rows()`` and a column for each of ``lesson.columns``.
        """
        raise NotSupportedError(self.name, Capability.PUBLISHED)

    def probabilities(self, view: GraphView, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores to probabilities; overriding this says that they are calibrated.

        Args:
            view: What may be seen of the graph.
            scores: What :meth:`score` gave for it.
        """
        # Late: scipy.special is slow to import, and most of the library does without.
        from scipy.special import softmax

        shares: NDArray[np.float64] = softmax(scores, axis=1)
        return shares

    def known_class_probability(
        self, view: GraphView, scores: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the open-set score: P(the node belongs to any known class) of each node.

        A method that overrides this declares a parameter ``world: World = "open"``, too.

        Args:
            view: What may be seen of the graph.
            scores: What :meth:`score` gave for it.

        Returns:
            NaN for every node where there is no such score.
        """
        return np.full(len(scores), np.nan)

    def share_of_known_classes(self, view: GraphView) -> float | None:
        """Return the estimated share of unlabelled nodes that belong to known classes.

        Args:
            view: What may be seen of the graph.

        Returns:
            None where the method has no such estimate.
        """
        return None

    @property
    def world(self) -> World:
        """Whether nodes may belong to unknown classes; closed without an open-set score."""
        return "closed"

    def confidence(self, view: GraphView, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the confidence of each node's best class (:mod:`nodegraft.model.confidence`).

        Args:
            view: What may be seen of the graph.
            scores: What :meth:`score` gave for it.
        """
        probability: NDArray[np.float64] = self.probabilities(view, scores).max(axis=1)
        return confidence(probability, self.known_class_probability(view, scores), self.world)

    @classmethod
    def capabilities(cls) -> frozenset[Capability]:
        """What this method can do beyond the minimum."""
        declared = {
            capability
            for capability, hook in _HOOKS.items()
            if getattr(cls, hook) is not getattr(Hooks, hook)
        }
        return frozenset(declared | ({Capability.UNDO} if cls.reversible else set()))

    @property
    def seeds(self) -> Seeds:
        """Generators of this model's seed."""
        return Seeds(self.seed)

    @property
    def listener(self) -> Listener:
        """Where hooks tell how far they are."""
        return self.__dict__.get("_listener", SILENT)  # type: ignore[no-any-return]
