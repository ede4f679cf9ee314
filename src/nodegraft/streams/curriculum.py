"""What a method may learn from before the first new class arrives."""

from dataclasses import dataclass, replace

from nodegraft.base.seeds import Seeds
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.session import Sessions
from nodegraft.streams.split import HELD_OUT, TRAIN


@dataclass(frozen=True)
class Curriculum:
    """Labels of the known classes, and ways to practise. Plain labels are one with ``train`` only.

    >>> Curriculum.from_labels(NodeLabels({"hats": [1, 2]})).base
    ('hats',)
    """

    train: NodeLabels
    """The labels of every known class."""

    held_out: NodeLabels
    """Other nodes of the same classes, for early stopping."""

    pseudo_novel: tuple[str, ...] = ()
    """The known classes that are kept for practising increments."""

    rehearsal: Sessions | None = None
    """Sessions in which the validation classes arrive: every choice of a hyper-parameter rests on
    those. Sessions rather than a stream, because a stream knows the class of every node. None
    where there are no validation classes."""

    ways: int = 5
    """How many classes an increment is expected to bring, for practice to look like it."""

    shots: int = 5
    """How many labels each of them is expected to come with."""

    @classmethod
    def from_labels(cls, labels: NodeLabels) -> "Curriculum":
        """All labels teach, none are held out.

        Args:
            labels: Nodes of every known class.
        """
        return cls(labels, NodeLabels({}))

    @property
    def base(self) -> tuple[str, ...]:
        """The known classes an encoder may be pre-trained on."""
        return tuple(name for name in self.train if name not in self.pseudo_novel)

    @property
    def without_pseudo_novel(self) -> "Curriculum":
        """The same for a method that keeps no classes back to practise on: all known are base."""
        return replace(self, pseudo_novel=())

    def for_early_stopping(self, seeds: Seeds) -> tuple[NodeLabels, NodeLabels]:
        """Training and held-out nodes of the base classes.

        Args:
            seeds: Decide which training nodes are held out, if no others are given.
        """
        train, held_out = self.train.select(self.base), self.held_out
        if len(held_out):
            return train, held_out.select(self.base)
        kept, out = {}, {}
        for name, rows in train.items():
            shuffled = seeds.generator("early stopping", name).permutation(rows)
            # In the proportion of the strict protocol; a class of one or two keeps them all.
            count = int(rows.size * HELD_OUT / (TRAIN + HELD_OUT))
            out[name], kept[name] = shuffled[:count], shuffled[count:]
        return NodeLabels(kept), NodeLabels(out)
