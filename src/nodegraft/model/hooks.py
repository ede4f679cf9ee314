"""Hooks that the author of a method writes: three, and optional ones that declare capabilities."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.errors import NotSupportedError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.parameters.constraints import NonNegativeInt
from nodegraft.base.parameters.validate import validate
from nodegraft.base.seeds import Seeds
from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.model.confidence import World, confidence
from nodegraft.streams.curriculum import Curriculum


class Capability(StrEnum):
    """Optional capability, which a caller can check before it relies on it."""

    ADD_LABELS = "learn more of a known class"
    SET_LABELS = "take other labels"
    REMOVE_CLASSES = "remove a class"
    UNDO = "remove a class without a trace"
    EXPLAIN = "explain a prediction"
    CALIBRATED = "give calibrated confidence"
    EMBED = "embed nodes"
    PUBLISHED = "be evaluated as published"


_HOOKS = {
    Capability.ADD_LABELS: "learn_labels",
    Capability.SET_LABELS: "relearn",
    Capability.REMOVE_CLASSES: "keep_classes",
    Capability.EXPLAIN: "explain_node",
    Capability.CALIBRATED: "probabilities",
    Capability.EMBED: "embedding",
    Capability.PUBLISHED: "scores_as_published",
}


@dataclass(frozen=True)
class PublishedLesson:
    """One session as the authors' code has it, with labels that the strict protocol never shows.

    The columns of its scores are the classes of ``old``, of ``doubled`` and of ``new``.

    Args:
        view: Visible part of the graph.
        old: Earlier tasks, the first one with many classes: the nodes that prototypes are made of.
        doubled: The classes of this session again, with all their nodes; empty if this is off.
        new: The supports of this session's classes; empty in session 0.
        query: The query nodes.
        dropout: Dropout rate while scores are computed.
        step: Whether the loss of the queries' labels is back-propagated and a step taken.
        before_step: Whether scores are those before the step.
        seed: Seed of the dropout.
    """

    view: GraphView
    old: tuple[NodeLabels, ...]
    doubled: NodeLabels
    new: NodeLabels
    query: NodeLabels
    dropout: float
    step: bool
    before_step: bool
    seed: int

    @property
    def tasks(self) -> tuple[NodeLabels, ...]:
        """All non-empty tasks that prototypes are made of, in the order of the columns."""
        return tuple(task for task in (*self.old, self.doubled, self.new) if len(task))

    @property
    def targets(self) -> Tensor:
        """Column of the class of each query node."""
        place = {name: column for column, name in enumerate(self.columns)}
        numbers = [place[name] for name, rows in self.query.items() for _ in rows]
        return torch.tensor(numbers)

    @property
    def columns(self) -> tuple[str, ...]:
        """Class of each score column; ``""`` for ``doubled``, which is never the correct class."""
        first = [name for task in self.old for name in task]
        return (*first, *("" for _ in self.doubled), *self.new)


@dataclass(kw_only=True)
class Hooks(ABC):
    """Subclass :class:`~nodegraft.model.method.Method` as a keyword-only dataclass.

    Fields are hyper-parameters; they are checked against their annotations whenever an instance
    is built. What is learned is declared beside them with
    :func:`~nodegraft.model.learned.learned` under a name that ends in ``_``: arrays, tensors, a
    dict of tensors, labels by key, or plain JSON. It is saved, loaded, counted and rolled back
    without further work. Hooks replace such attributes and never modify them in place, and read the
    graph only through the view they are given. Nodes are remembered by their keys
    (:class:`~nodegraft.graph.keyed_labels.KeyedLabels`), since row numbers may change. Hooks
    get each row once, in ascending order; columns of the scores are classes in the order in
    which they were learned. ``labels_`` holds every label, new ones included, when a hook is
    called; ``methods/templates/derived.py`` caches what is computed from it and the graph.
    """

    seed: NonNegativeInt = 0
    """Seed of all random draws of the method: the same seed gives the same model."""

    name: ClassVar[str]
    """Name of the method on the command line and in records."""
    summary: ClassVar[str]
    """Description in one line."""
    citation: ClassVar[str] = ""
    """Authors and year of the paper."""
    many_shot: ClassVar[bool] = False
    """Whether it is an upper reference: most nodes of new classes are training labels."""
    reversible: ClassVar[bool] = False
    """Whether removing added classes restores the state before they were added."""
    block_rows: ClassVar[int] = 65_536
    """Number of nodes that are scored at once."""

    def __post_init__(self) -> None:
        validate(self)

    # The three hooks.

    @abstractmethod
    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Learn the classes of ``curriculum.train``, in its order.

        Args:
            view: Visible part of the graph.
            curriculum: Labels of the known classes, and rehearsal sessions for practice.
        """

    @abstractmethod
    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Learn more classes, in the order of ``support``, after the ones already known.

        Args:
            view: Visible part of the graph.
            support: The labels of the new classes.
        """

    @abstractmethod
    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor | NDArray[Any]:
        """Return scores: one row per node, one column per known class; larger means more likely.

        Args:
            view: Visible part of the graph.
            rows: Row numbers of the nodes, each once and ascending.
        """

    def check_learned(self) -> None:  # noqa: B027
        """Raise a ValueError if loaded arrays do not fit together.

        Called once after loading. Override it if kernels of the method would read beyond the end of
        arrays that come from a damaged file.
        """

    def rename_learned(self, names: Mapping[str, str]) -> None:  # noqa: B027
        """Replace class names in learned attributes that are not ``KeyedLabels``.

        Most methods identify classes by columns and need not override it.

        Args:
            names: Class name -> its new name.
        """

    # The following hooks are optional: overriding a hook declares a capability.

    def learn_labels(
        self, view: GraphView, support: NodeLabels, columns: NDArray[np.int64]
    ) -> None:
        """Learn from more nodes of known classes.

        The result is the same as if the nodes had been present when their class was first learned.

        Args:
            view: Visible part of the graph.
            support: The additional labels.
            columns: Column of each class of ``support``.
        """
        raise NotSupportedError(self.name, Capability.ADD_LABELS)

    def relearn(self, view: GraphView) -> None:
        """Use the current ``labels_``, whatever the classes and labels before were.

        What the model fitted besides labels is kept.

        Args:
            view: Visible part of the graph.
        """
        raise NotSupportedError(self.name, Capability.SET_LABELS)

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Keep only these columns: all other classes are removed.

        Args:
            columns: Columns to keep, ascending.
        """
        raise NotSupportedError(self.name, Capability.REMOVE_CLASSES)

    def explain_node(self, view: GraphView, row: int) -> dict[str, Any]:
        """Explain the scores of a node as plain JSON.

        Args:
            view: Visible part of the graph.
            row: Row number of the node.
        """
        raise NotSupportedError(self.name, Capability.EXPLAIN)

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor | Matrix:
        """Return the vectors that scores are computed from.

        Args:
            view: Visible part of the graph.
            rows: Row numbers of the nodes, each once and ascending.
        """
        raise NotSupportedError(self.name, Capability.EMBED)

    def scores_as_published(self, lesson: PublishedLesson) -> Tensor | NDArray[Any]:
        """Return scores, and take a training step on the query labels (published protocol only).

        Args:
            lesson: Labels that the strict protocol never shows. The result has a row for each of
                ``lesson.query.rows()`` and a column for each of ``lesson.columns``.
        """
        raise NotSupportedError(self.name, Capability.PUBLISHED)

    def probabilities(self, view: GraphView, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert scores to probabilities; a method that overrides this declares calibration.

        Args:
            view: Visible part of the graph.
            scores: Scores returned by :meth:`score`.
        """
        # Imported late, because scipy.special is slow to import and rarely needed.
        from scipy.special import softmax

        shares: NDArray[np.float64] = softmax(scores, axis=1)
        return shares

    def known_class_probability(
        self, view: GraphView, scores: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the open-set score: P(the node belongs to any known class) of each node.

        A method that overrides this declares a parameter ``world: World = "open"``, too.

        Args:
            view: Visible part of the graph.
            scores: Scores returned by :meth:`score`.

        Returns:
            NaN for every node if the method has no such score.
        """
        return np.full(len(scores), np.nan)

    def share_of_known_classes(self, view: GraphView) -> float | None:
        """Return the estimated share of unlabelled nodes that belong to known classes.

        Args:
            view: Visible part of the graph.

        Returns:
            None if the method has no such estimate.
        """
        return None

    @property
    def world(self) -> World:
        """Whether nodes may belong to unknown classes; closed without an open-set score."""
        return "closed"

    def confidence(self, view: GraphView, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the confidence of each node's best class (:mod:`nodegraft.model.confidence`).

        Args:
            view: Visible part of the graph.
            scores: Scores returned by :meth:`score`.
        """
        probability: NDArray[np.float64] = self.probabilities(view, scores).max(axis=1)
        return confidence(probability, self.known_class_probability(view, scores), self.world)

    @classmethod
    def capabilities(cls) -> frozenset[Capability]:
        """Return what this method supports beyond the minimum."""
        declared = {
            capability
            for capability, hook in _HOOKS.items()
            if getattr(cls, hook) is not getattr(Hooks, hook)
        }
        return frozenset(declared | ({Capability.UNDO} if cls.reversible else set()))

    @property
    def seeds(self) -> Seeds:
        """Random generators derived from the seed of this model."""
        return Seeds(self.seed)

    @property
    def listener(self) -> Listener:
        """Listener that receives the progress events of hooks."""
        return self.__dict__.get("_listener", SILENT)  # type: ignore[no-any-return]
