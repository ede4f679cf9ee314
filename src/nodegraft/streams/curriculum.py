"""Curriculum: the labels that a method may use before the first new class arrives."""

from dataclasses import dataclass, replace

from nodegraft.base.seeds import Seeds
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.session import Sessions
from nodegraft.streams.split import HELD_OUT, TRAIN


@dataclass(frozen=True)
class Curriculum:
    """Labels of the known classes, and sessions to practise on.

    >>> Curriculum.from_labels(NodeLabels({"hats": [1, 2]})).base
    ('hats',)
    """

    train: NodeLabels
    """Training labels of every known class."""

    held_out: NodeLabels
    """Other nodes of the same classes, for early stopping."""

    pseudo_novel: tuple[str, ...] = ()
    """Known classes that are reserved for practising increments."""

    rehearsal: Sessions | None = None
    """Sessions in which the validation classes arrive, to choose hyper-parameters on. These are
    sessions and no stream, because a stream knows the class of every node. None without validation
    classes."""

    ways: int = 5
    """Expected number of new classes per session, for realistic practice."""

    shots: int = 5
    """Expected number of labels of a new class."""

    @classmethod
    def from_labels(cls, labels: NodeLabels) -> "Curriculum":
        """Return a curriculum of training labels, without held-out nodes.

        Args:
            labels: Training nodes of every known class.
        """
        return cls(labels, NodeLabels({}))

    @property
    def base(self) -> tuple[str, ...]:
        """Known classes that an encoder may be pre-trained on."""
        return tuple(name for name in self.train if name not in self.pseudo_novel)

    @property
    def without_pseudo_novel(self) -> "Curriculum":
        """Curriculum in which all known classes are base classes."""
        return replace(self, pseudo_novel=())

    def for_early_stopping(self, seeds: Seeds) -> tuple[NodeLabels, NodeLabels]:
        """Return training and held-out nodes of the base classes.

        Args:
            seeds: Seeds of the choice of held-out nodes, if the curriculum has none.
        """
        train, held_out = self.train.select(self.base), self.held_out
        if len(held_out):
            return train, held_out.select(self.base)
        kept, out = {}, {}
        for name, rows in train.items():
            shuffled = seeds.generator("early stopping", name).permutation(rows)
            # The share is that of the strict protocol; a class of one or two nodes holds out none.
            count = int(rows.size * HELD_OUT / (TRAIN + HELD_OUT))
            out[name], kept[name] = shuffled[:count], shuffled[count:]
        return NodeLabels(kept), NodeLabels(out)
