"""Hooks that the author of a method implements: three required hooks, and optional hooks.

Each optional hook declares a capability.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

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

if TYPE_CHECKING:
    from torch import Tensor


class Capability(StrEnum):
    """Optional capability of a method; callers can check it before they use it."""

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
    """Session of the published protocol, with labels that the strict protocol never shows.

    The columns of the scores are the classes of ``old``, then ``doubled``, then ``new``.

    Args:
        view: Visible part of the graph.
        old: Nodes for the prototypes of each earlier task; the first task has many classes.
        doubled: Classes of this session with all their nodes, as additional candidate classes;
            empty if this leak is switched off.
        new: Support nodes of this session's classes; empty in session 0.
        query: Query nodes by class.
        dropout: Dropout rate during scoring.
        step: Whether to take a gradient step on the loss of the query labels.
        before_step: Whether to return scores that were computed before the gradient step.
        seed: Random seed of the dropout.
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
        """All non-empty tasks for which prototypes are computed, in the order of the columns."""
        return tuple(task for task in (*self.old, self.doubled, self.new) if len(task))

    @property
    def targets(self) -> "Tensor":
        """Score column of the true class of each query node."""
        import torch  # This import takes seconds, and models in closed form do not need it.

        return torch.from_numpy(self.query.targets(self.columns))

    @property
    def columns(self) -> tuple[str, ...]:
        """Class of each score column; ``""`` for ``doubled``, which is never the correct class."""
        first = [name for task in self.old for name in task]
        return (*first, *("" for _ in self.doubled), *self.new)


@dataclass(kw_only=True)
class Hooks(ABC):
    """Interface that authors implement; subclass :class:`~nodegraft.model.method.Method` for it.

    The subclass is a keyword-only dataclass. Its fields are hyper-parameters, which are checked
    against their annotations when an instance is created. Learned attributes are fields, too: they
    are declared with :func:`~nodegraft.model.learned.learned` under a name that ends in ``_``, and
    are arrays, tensors, a dict of tensors, labels by key, or plain JSON. Saving, loading, size
    accounting and rollback of learned attributes need no code in the subclass.

    Rules for hooks: assign new values to learned attributes, never modify them in place. Read the
    graph only through the given view. Store nodes by key
    (:class:`~nodegraft.graph.keyed_labels.KeyedLabels`), because row numbers may change. Rows
    given to a hook are unique and ascending. Score columns are classes in the order in which they
    were learned. When a hook is called, ``labels_`` already contains all labels, including the new
    ones; ``methods/templates/derived.py`` caches results computed from ``labels_`` and the graph.
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
    """Whether the method is an upper reference, which trains on most nodes of new classes."""
    reversible: ClassVar[bool] = False
    """Whether removing added classes restores the state from before they were added."""
    adjustable: ClassVar[frozenset[str]] = frozenset({"world", "device"})
    """Parameters that can be set on a fitted model without dropping what it has learned."""
    has_checkpoints: ClassVar[bool] = False
    """Whether ``fit`` can write checkpoints, and resume from them."""
    block_rows: ClassVar[int] = 65_536
    """Number of nodes that are scored at once."""

    def __post_init__(self) -> None:
        validate(self)

    # The next three hooks are required.

    @abstractmethod
    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Learn the known classes, in the order of ``curriculum.train``.

        Args:
            view: Visible part of the graph.
            curriculum: Labels of the known classes, and rehearsal sessions for practice.
        """

    @abstractmethod
    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Learn new classes, in the order of ``support``; their columns follow the known classes.

        Args:
            view: Visible part of the graph.
            support: Labels of the new classes.
        """

    @abstractmethod
    def score(self, view: GraphView, rows: NDArray[np.int64]) -> "Tensor | NDArray[Any]":
        """Return scores, one row per node and one column per known class; higher is more likely.

        Args:
            view: Visible part of the graph.
            rows: Row numbers of the nodes, unique and ascending.
        """

    def check_learned(self) -> None:  # noqa: B027
        """Raise a ValueError if the shapes of loaded arrays are inconsistent.

        This hook is called once after loading. Override it if compiled code of the method could
        read beyond the end of arrays from a damaged file.
        """

    def rename_learned(self, names: Mapping[str, str]) -> None:  # noqa: B027
        """Replace class names in learned attributes that are not ``KeyedLabels``.

        Most methods identify classes by score column and need not override it.

        Args:
            names: Class name -> its new name.
        """

    # The following hooks are optional: overriding a hook declares a capability.

    def learn_labels(
        self, view: GraphView, support: NodeLabels, columns: NDArray[np.int64]
    ) -> None:
        """Learn additional labels of known classes.

        The result must be the same as if these labels had been given when their class was first
        learned.

        Args:
            view: Visible part of the graph.
            support: Additional labels.
            columns: Score column of each class of ``support``.
        """
        raise NotSupportedError(self.name, Capability.ADD_LABELS)

    def relearn(self, view: GraphView) -> None:
        """Adapt the learned state to ``labels_``, which has replaced all previous labels.

        This hook does not change other fitted parameters, such as weights.

        Args:
            view: Visible part of the graph.
        """
        raise NotSupportedError(self.name, Capability.SET_LABELS)

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Remove all classes except those of the given score columns.

        Args:
            columns: Columns to keep, ascending.
        """
        raise NotSupportedError(self.name, Capability.REMOVE_CLASSES)

    def explain_node(self, view: GraphView, row: int) -> dict[str, Any]:
        """Return an explanation of a node's scores as plain JSON.

        Args:
            view: Visible part of the graph.
            row: Row number of the node.
        """
        raise NotSupportedError(self.name, Capability.EXPLAIN)

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> "Tensor | Matrix":
        """Return the embedding of each node, from which scores are computed.

        Args:
            view: Visible part of the graph.
            rows: Row numbers of the nodes, unique and ascending.
        """
        raise NotSupportedError(self.name, Capability.EMBED)

    def scores_as_published(self, lesson: PublishedLesson) -> "Tensor | NDArray[Any]":
        """Return scores, and take a training step on the query labels (published protocol only).

        Args:
            lesson: Session with the labels. The result must have one row for each node of
                ``lesson.query.rows()`` and one column for each of ``lesson.columns``.
        """
        raise NotSupportedError(self.name, Capability.PUBLISHED)

    def probabilities(self, view: GraphView, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert scores to probabilities; a method that overrides this declares calibration.

        Args:
            view: Visible part of the graph.
            scores: Scores returned by :meth:`score`.
        """
        # Import here, because scipy.special is slow to import and rarely needed.
        from scipy.special import softmax

        shares: NDArray[np.float64] = softmax(scores, axis=1)
        return shares

    def known_class_probability(
        self, view: GraphView, scores: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the open-set score: P(the node belongs to any known class) of each node.

        A method that overrides this must also declare a parameter ``world: World = "open"``.

        Args:
            view: Visible part of the graph.
            scores: Scores returned by :meth:`score`.

        Returns:
            An array with NaN for every node if the method has no open-set score.
        """
        return np.full(len(scores), np.nan)

    def share_of_known_classes(self, view: GraphView) -> float | None:
        """Return the estimated share of unlabelled nodes that belong to known classes.

        Args:
            view: Visible part of the graph.

        Returns:
            The share, or None if the method does not estimate it.
        """
        return None

    @property
    def world(self) -> World:
        """Whether nodes may belong to unknown classes: "open" or "closed".

        A method without open-set score has a closed world.
        """
        return "closed"

    def confidence(self, view: GraphView, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the confidence of each node's likeliest class (:mod:`nodegraft.model.confidence`).

        Args:
            view: Visible part of the graph.
            scores: Scores returned by :meth:`score`.
        """
        probability: NDArray[np.float64] = self.probabilities(view, scores).max(axis=1)
        return confidence(probability, self.known_class_probability(view, scores), self.world)

    @classmethod
    def capabilities(cls) -> frozenset[Capability]:
        """Return the optional capabilities that this method supports."""
        declared = {
            capability
            for capability, hook in _HOOKS.items()
            if getattr(cls, hook) is not getattr(Hooks, hook)
        }
        return frozenset(declared | ({Capability.UNDO} if cls.reversible else set()))

    @property
    def seeds(self) -> Seeds:
        """Random generators that are derived from the seed of this model."""
        return Seeds(self.seed)

    @property
    def listener(self) -> Listener:
        """Listener that receives the progress events of hooks."""
        return self.__dict__.get("_listener", SILENT)  # type: ignore[no-any-return]

    def require_same_labels(self, view: GraphView, labels: NodeLabels) -> None:  # noqa: B027
        """Raise an error if other processes that train this model were given other labels.

        Only methods that several processes can train override this.

        Args:
            view: Visible part of the graph.
            labels: New labels.
        """

    @property
    def checkpoint(self) -> Path | None:
        """File for checkpoints of a training in progress; None if it writes none."""
        return self.__dict__.get("_checkpoint")
