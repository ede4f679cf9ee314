"""Labels of one class: its training nodes and its held-out nodes."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from nodegraft.base.errors import StoreError
from nodegraft.graph.keys import Key, hash_order, key_array

HELD_OUT, FEWEST = 0.2, 10
"""Share of a class's labels to hold out, and least number of labels for holding out any."""

Keys = tuple[Key, ...]


@dataclass(frozen=True)
class ClassLabels:
    """Labels of one class, ordered by the hashes of their keys."""

    session: int
    """Session in which the class was added; 0 for the first classes."""

    training: Keys
    """Keys of training nodes."""

    held_out: Keys = ()
    """Keys of held-out nodes."""

    @property
    def all(self) -> Keys:
        """Keys of all labelled nodes: training and held-out nodes."""
        return self.training + self.held_out

    def with_more(self, keys: Iterable[Key]) -> "ClassLabels":
        """Return labels with more nodes; hold out new nodes until the held-out share is reached.

        Args:
            keys: Keys of nodes that have no label yet.
        """
        new = in_order(keys)
        total = len(self.all) + len(new)
        count = int(HELD_OUT * total) if total >= FEWEST else 0
        missing = max(0, count - len(self.held_out))
        training = in_order(self.training + new[missing:])
        return replace(self, training=training, held_out=in_order(self.held_out + new[:missing]))

    def without(self, keys: frozenset[Key]) -> "ClassLabels":
        """Return labels without some nodes.

        Args:
            keys: Keys of the nodes to remove.
        """
        training = tuple(key for key in self.training if key not in keys)
        held_out = tuple(key for key in self.held_out if key not in keys)
        return replace(self, training=training, held_out=held_out)

    def part(self, keys: Iterable[Key]) -> "ClassLabels":
        """Return the labels of a part of this class; nodes stay in training or stay held out.

        Args:
            keys: Nodes of the part; :meth:`with_more` adds those that have no label yet.
        """
        some = frozenset(keys)
        old = self.without(frozenset(self.all) - some)
        part = old.with_more(some.difference(old.all))
        # If all nodes of the part were held out, divide them again: training needs some nodes.
        return part if part.training else ClassLabels(self.session, ()).with_more(some)


def in_order(keys: Iterable[Key]) -> Keys:
    """Return keys ordered by their hashes."""
    every = list(keys)
    if not every:
        return ()
    array = key_array(every)
    if array.ndim != 1:
        raise StoreError(f"Node keys are text or integers, not {every[0]!r}.")
    return tuple(array[hash_order(array)].tolist())
