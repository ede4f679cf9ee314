"""What the author of a method writes: three hooks, and optional ones that declare abilities."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from torch import Tensor

from nodegraft.base.errors import NotSupportedError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.seeds import Seeds
from nodegraft.graph.labels import Labelled
from nodegraft.graph.matrix import Matrix
from nodegraft.graph.stream import Curriculum
from nodegraft.graph.view import GraphView


class Capability(StrEnum):
    """What a method may offer beyond learning and scoring."""

    MORE = "learn more of a known class"
    REMOVE = "remove a class"
    EXPLAIN = "explain a prediction"
    CALIBRATED = "give calibrated confidence"
    EMBED = "embed nodes"
    PUBLISHED = "be evaluated as published"


@dataclass(kw_only=True)
class Hooks(ABC):
    """Subclass :class:`~nodegraft.methods.base.Method` as a keyword-only dataclass.

    Fields are hyper-parameters, nothing else.
    What is learned goes to attributes that end in ``_`` and are arrays, tensors, a dict of
    tensors, or plain JSON: they are saved, loaded, counted and rolled back without further work.
    Hooks replace such attributes rather than write into them, and see the graph only through the
    view they are given. Rows reach the hooks each once and ascending; columns of the scores are
    classes in the order in which they were learned.
    """

    seed: int = 0

    name: ClassVar[str]
    summary: ClassVar[str]
    citation: ClassVar[str] = ""
    many_shot: ClassVar[bool] = False
    """Whether it is a ceiling: taught new classes by most of their nodes instead of a few."""
    block_rows: ClassVar[int] = 65_536

    # The three hooks.

    @abstractmethod
    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Learn the classes of ``curriculum.train``, in its order."""

    @abstractmethod
    def learn_classes(self, view: GraphView, support: Labelled) -> None:
        """Learn more classes, in the order of ``support``, after the ones already known."""

    @abstractmethod
    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor | NDArray[Any]:
        """One row per node, one column per known class; larger means more likely."""

    # Optional hooks; each one overridden is a capability declared.

    def learn_more(self, view: GraphView, support: Labelled, columns: NDArray[np.int64]) -> None:
        """Learn from more nodes of known classes; ``columns`` are those of ``support``'s classes.

        What comes out is as if the nodes had been there when their class was first learned.
        """
        raise NotSupportedError(self.name, Capability.MORE)

    def unlearn_classes(self, kept: NDArray[np.int64]) -> None:
        """Keep only these columns."""
        raise NotSupportedError(self.name, Capability.REMOVE)

    def explain_node(self, view: GraphView, row: int) -> dict[str, Any]:
        """Why a node scores as it does, as plain JSON."""
        raise NotSupportedError(self.name, Capability.EXPLAIN)

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor | Matrix:
        """The vectors the scores are made from."""
        raise NotSupportedError(self.name, Capability.EMBED)

    def learn_as_published(self, view: GraphView, everything: Labelled, queries: Labelled) -> None:
        """Learn from labels an honest method never sees; only the published protocol calls it.

        ``everything`` has all nodes of old classes, queries included, in the order of
        ``classes_``; ``queries`` are those about to be asked.
        """
        raise NotSupportedError(self.name, Capability.PUBLISHED)

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores to probabilities; overriding this says that they are calibrated."""
        shares: NDArray[np.float64] = softmax(scores, axis=1)
        return shares

    def familiarity(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The chance that a node is of a known class at all; 1 where a method cannot tell."""
        return np.ones(len(scores))

    @classmethod
    def capabilities(cls) -> frozenset[Capability]:
        """What this method can do beyond the minimum."""
        hooks = {
            Capability.MORE: "learn_more",
            Capability.REMOVE: "unlearn_classes",
            Capability.EXPLAIN: "explain_node",
            Capability.CALIBRATED: "probabilities",
            Capability.EMBED: "embedding",
            Capability.PUBLISHED: "learn_as_published",
        }
        return frozenset(
            capability
            for capability, hook in hooks.items()
            if getattr(cls, hook) is not getattr(Hooks, hook)
        )

    @property
    def seeds(self) -> Seeds:
        """Generators of this model's seed."""
        return Seeds(self.seed)

    @property
    def listener(self) -> Listener:
        """Where hooks tell how far they are."""
        return self.__dict__.get("_listener", SILENT)  # type: ignore[no-any-return]
