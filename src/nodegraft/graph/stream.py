"""Sessions in order: what is visible, what teaches, what is asked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
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
    ``rehearsal()`` gives sessions in which the validation classes arrive: every choice of a
    hyper-parameter rests on those. They are sessions rather than a stream, because a stream knows
    the class of every node. ``ways`` and ``shots`` say what an increment is expected to bring, for
    practice to look like it. A user's plain labels are a curriculum with ``train`` only.
    """

    train: Labelled
    held_out: Labelled
    pseudo_novel: tuple[str, ...] = ()
    rehearsal: "Callable[[], Iterator[Session]] | None" = None
    ways: int = 5
    shots: int = 5

    @classmethod
    def from_labels(cls, labels: Labelled) -> "Curriculum":
        """All labels teach, none are held out."""
        return cls(labels, Labelled({}))

    @property
    def base(self) -> tuple[str, ...]:
        """The known classes an encoder may be pre-trained on."""
        return tuple(name for name in self.train if name not in self.pseudo_novel)

    @property
    def undivided(self) -> "Curriculum":
        """The same for a method that keeps no classes back to practise on: all known are base."""
        return replace(self, pseudo_novel=())

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

    def __init__(self, graph: Graph, split: ClassSplit, *, arrival: Arrival = "with-class") -> None:
        if arrival not in ("with-class", "present"):
            raise ParameterError(f"arrival is 'with-class' or 'present', not {arrival!r}.")
        self._graph = graph
        self.split = split
        self.arrival = arrival

    @property
    def curriculum(self) -> Curriculum:
        """What may be learned before session 1."""
        split, rehearsal = self.split, self.rehearsal()
        sessions = rehearsal.__iter__ if split.validation else None
        ways, shots = split.setting.ways, split.setting.shots
        return Curriculum(
            split.train, split.held_out, split.pseudo_novel, sessions, ways=ways, shots=shots
        )

    def rehearsal(self) -> "ClassStream":
        """The same stream with the validation classes as the new ones; no test node is asked."""
        return ClassStream(self._graph, self.split.rehearsal(), arrival=self.arrival)

    def __len__(self) -> int:
        ways = self.split.setting.ways
        return 1 + (len(self.split.novel) + ways - 1) // ways

    def arriving(self, index: int) -> tuple[str, ...]:
        """The classes of one session."""
        ways, split = self.split.setting.ways, self.split
        return split.novel[(index - 1) * ways : index * ways] if index else split.known

    def session(self, index: int) -> Session:
        """One session, by itself."""
        if not 0 <= index < len(self):
            raise ParameterError(f"The sessions are 0 to {len(self) - 1}; there is no {index}.")
        split, seen = self.split, self.split.novel[: index * self.split.setting.ways]
        support = split.train if index == 0 else split.support.only(self.arriving(index))
        view = self._view(split.known + seen)
        return Session(index, view, support, split.test | split.query.only(seen))

    def _view(self, seen: tuple[str, ...]) -> GraphView:
        if self.arrival == "present":
            return self._graph.whole
        visible: NDArray[np.int64] = self.split.members.only(seen).rows()
        return GraphView(self._graph, visible)

    def __iter__(self) -> Iterator[Session]:
        return (self.session(index) for index in range(len(self)))
