"""Joint training from scratch on all labels so far, in every session."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.pretraining import Pretraining
from nodegraft.methods.templates.classifying import Classifying
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class JointFewShot(Classifying):
    r"""Baseline that stores every label and forgets nothing, an upper bound for few-shot training.

    Session t trains a new encoder and a new head on :math:`S^0 \cup \dots \cup S^t`, with the
    training settings of session 0,

    .. math:: L = \frac{1}{|C|} \sum_{c \in C} \frac{1}{|S_c|} \sum_{i \in S_c}
        CE(g_\theta(A, X)_i W^\top, c)

    Early stopping uses the held-out nodes of the curriculum and a random share of the supports of
    new classes. Joint training is used as a reference by Li & Hoiem 2017, https://arxiv.org/abs/1606.09282.
    """

    balanced: bool = True
    """Whether all classes have equal weight in the loss. Otherwise base classes dominate, because
    they have many times the labels of a new class."""

    train_: KeyedLabels = learned()
    """Training labels of all classes so far; held-out labels are not included."""

    held_out_: KeyedLabels = learned()
    """Held-out labels for early stopping."""

    name: ClassVar[str] = "joint-fewshot"
    summary: ClassVar[str] = "retrained from scratch on all labels received so far"
    citation: ClassVar[str] = "joint training, as in Li & Hoiem 2017"

    @property
    def pretraining(self) -> Pretraining:
        """Training procedure, with equal weight for all classes if ``balanced`` is set."""
        return replace(super().pretraining, balanced=self.balanced)

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Train encoder and head on all known classes."""
        everything = curriculum.without_pseudo_novel
        self._train(view, *everything.for_early_stopping(self.seeds))

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Train from scratch on all labels so far, including those of the new classes."""
        old = (labels.on(view) for labels in (self.train_, self.held_out_))
        new = Curriculum.from_labels(support).for_early_stopping(self.seeds)
        self._train(view, *(before | more for before, more in zip(old, new, strict=True)))

    def _train(self, view: GraphView, train: NodeLabels, held_out: NodeLabels) -> None:
        super().learn_base(view, Curriculum(train, held_out))
        self.train_ = KeyedLabels.of(train, view)
        self.held_out_ = KeyedLabels.of(held_out, view)

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the removed classes from the head and the labels."""
        super().keep_classes(columns)
        names = [self.classes_[column] for column in columns]
        self.train_, self.held_out_ = self.train_.select(names), self.held_out_.select(names)
