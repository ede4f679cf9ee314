"""Where what took long to work out about a graph outlives the process."""

from typing import Self

from nodegraft.base.files.bundle import Arrays
from nodegraft.base.hashing import HashPart


class Shelf:
    """Arrays by what they depend on. This one is for graphs in memory alone: it keeps nothing.

    What lies on a shelf can be worked out again: it may be lost at any moment.
    """

    keeps = False
    """Whether what is put is found again."""

    @property
    def base(self) -> "Shelf":
        """The shelf of the graph that this one grew from; itself where it did not grow."""
        return self

    def under(self, *depends_on: HashPart) -> Self:
        """The part of it for what depends on this, too.

        Args:
            depends_on: Beside the graph.
        """
        return self

    def get(self, *depends_on: HashPart) -> Arrays | None:
        """What was put; None where it must be worked out.

        Args:
            depends_on: All that the arrays depend on.
        """
        return None

    def put(self, arrays: Arrays, *depends_on: HashPart) -> None:
        """Keep arrays, if that is possible.

        Args:
            arrays: The arrays.
            depends_on: All that they depend on.
        """

    def drop(self, *depends_on: HashPart) -> None:
        """Take away what nobody will ask for again.

        Args:
            depends_on: As it was put.
        """
