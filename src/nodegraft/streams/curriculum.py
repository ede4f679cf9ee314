"""Curriculum: labels that a method may use before the first new class arrives."""

from dataclasses import dataclass, replace

from nodegraft.base.seeds import Seeds
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.session import Sessions
from nodegraft.streams.split import HELD_OUT, TRAIN


@dataclass(frozen=True)
class Curriculum:
    """Labels of the known classes, and sessions for choosing hyper-parameters.

    >>> Curriculum.from_labels(NodeLabels({"hats": [1, 2]})).base
    ('hats',)
    """

    train: NodeLabels
    """Training labels of every known class."""

    held_out: NodeLabels
    """Held-out labels of the known classes, for early stopping."""

    pseudo_novel: tuple[str, ...] = ()
    """Known classes that are reserved for practice in adding classes."""

    rehearsal: Sessions | None = None
    """Sessions in which the validation classes arrive, for choosing hyper-parameters. This is not a
    ``ClassStream``, because such a stream contains the class of every node. None if there are no
    validation classes."""

    ways: int = 5
    """Expected number of new classes per session."""

    shots: int = 5
    """Expected number of labels of each new class."""

    @classmethod
    def from_labels(cls, labels: NodeLabels) -> "Curriculum":
        """Create a curriculum from training labels only, without held-out labels.

        Args:
            labels: Training labels of every known class.
        """
        return cls(labels, NodeLabels({}))

    @property
    def base(self) -> tuple[str, ...]:
        """Known classes for pre-training an encoder: all that are not pseudo-novel."""
        return tuple(name for name in self.train if name not in self.pseudo_novel)

    @property
    def without_pseudo_novel(self) -> "Curriculum":
        """Copy of the curriculum in which all known classes are base classes."""
        return replace(self, pseudo_novel=())

    def for_early_stopping(self, seeds: Seeds) -> tuple[NodeLabels, NodeLabels]:
        """Return training and held-out labels of the base classes.

        Args:
            seeds: Seeds for drawing held-out nodes from the training nodes; used only if the
                curriculum has no held-out labels.
        """
        train, held_out = self.train.select(self.base), self.held_out
        if len(held_out):
            return train, held_out.select(self.base)
        remaining, out = {}, {}
        for name, rows in train.items():
            shuffled = seeds.generator("early stopping", name).permutation(rows)
            # Hold out the same share of nodes as the strict protocol. Classes with at most three
            # nodes keep all of them for training.
            count = int(rows.size * HELD_OUT / (TRAIN + HELD_OUT))
            out[name], remaining[name] = shuffled[:count], shuffled[count:]
        return NodeLabels(remaining), NodeLabels(out)
