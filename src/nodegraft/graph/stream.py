"""Sessions in order: what is visible, what teaches, what is asked."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ParameterError
from nodegraft.base.seeds import Seeds
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import Labelled
from nodegraft.graph.split import HELD_OUT, TRAIN, ClassSplit
from nodegraft.graph.view import GraphView

Arrival = Literal["with-class", "present"]


@dataclass(frozen=True)
class Curriculum:
    """What a method may learn from before the first new class.

    ``train`` labels every known class; ``held_out`` are other nodes of the same classes, for
    early stopping. ``pseudo_novel`` names the known classes kept for practising increments.
    ``rehearsal`` teaches the validation classes: every choice of a hyper-parameter rests on it.
    A user's plain labels are a curriculum with ``train`` only.
    """

    train: Labelled
    held_out: Labelled
    pseudo_novel: tuple[str, ...] = ()
    rehearsal: "ClassStream | None" = None

    @classmethod
    def from_labels(cls, labels: Labelled) -> "Curriculum":
        """All labels teach, none are held out."""
        return cls(labels, Labelled({}))

    @property
    def base(self) -> tuple[str, ...]:
        """The known classes an encoder may be pre-trained on."""
        return tuple(name for name in self.train if name not in self.pseudo_novel)

    def for_early_stopping(self, seeds: Seeds) -> tuple[Labelled, Labelled]:
        """Training and held-out nodes of the base classes, carved by seed if none are given."""
        train, held_out = self.train.only(self.base), self.held_out
        if len(held_out):
            return train, held_out.only(self.base)
        kept, out = {}, {}
        for name, rows in train.items():
            shuffled = seeds.generator("early stopping", name).permutation(rows)
            # In the proportion of the strict protocol; a class of one or two keeps them all.
            count = int(rows.size * HELD_OUT / (TRAIN + HELD_OUT))
            out[name], kept[name] = shuffled[:count], shuffled[count:]
        return Labelled(kept), Labelled(out)


@dataclass(frozen=True)
class Session:
    """One step: a method gets ``view`` and ``support``, only the metric gets ``query``."""

    index: int
    view: GraphView
    support: Labelled
    query: Labelled


class ClassStream:
    """Session 0 knows base and pseudo-novel classes; each later one brings ``ways`` new ones."""

    def __init__(
        self,
        graph: Graph,
        split: ClassSplit,
        *,
        arrival: Arrival = "with-class",
        role: Literal["novel", "validation"] = "novel",
    ) -> None:
        if arrival not in ("with-class", "present"):
            raise ParameterError(f"arrival is 'with-class' or 'present', not {arrival!r}.")
        self.graph = graph
        self.split = split
        self.arrival = arrival
        self._role = role
        self._coming = split.novel if role == "novel" else split.validation

    @property
    def curriculum(self) -> Curriculum:
        """What may be learned before session 1; a rehearsal has none of its own inside."""
        split = self.split
        rehearse = self._role == "novel" and split.validation
        return Curriculum(
            train=split.train,
            held_out=split.held_out,
            pseudo_novel=split.pseudo_novel,
            rehearsal=self.rehearsal() if rehearse else None,
        )

    def rehearsal(self) -> "ClassStream":
        """The same known classes, the validation classes arriving; no test node takes part."""
        return ClassStream(self.graph, self.split, arrival=self.arrival, role="validation")

    def __len__(self) -> int:
        ways = self.split.setting.ways
        return 1 + (len(self._coming) + ways - 1) // ways

    def arriving(self, index: int) -> tuple[str, ...]:
        """The classes of one session."""
        ways = self.split.setting.ways
        return self.split.known if index == 0 else self._coming[(index - 1) * ways : index * ways]

    def session(self, index: int) -> Session:
        """One session, by itself."""
        split, seen = self.split, self._coming[: index * self.split.setting.ways]
        held_back = split.test if self._role == "novel" else split.held_out
        support = split.train if index == 0 else split.support.only(self.arriving(index))
        view = self._view(split.known + seen)
        return Session(index, view, support, held_back | split.query.only(seen))

    def _view(self, seen: tuple[str, ...]) -> GraphView:
        if self.arrival == "present":
            return self.graph.whole
        visible: NDArray[np.int64] = self.split.members.only(seen).rows()
        return GraphView(self.graph, visible)

    def __iter__(self) -> Iterator[Session]:
        return (self.session(index) for index in range(len(self)))
