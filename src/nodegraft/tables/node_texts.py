"""Short texts of nodes, which are shown to users but not used by models."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import IntArray

LONGEST = 200
"""Maximum number of characters of a node's text; longer texts are cut."""


@dataclass(frozen=True, eq=False)
class NodeTexts:
    """Shortened text of each node in row order, stored in a single UTF-8 array.

    >>> texts = NodeTexts.of(["a  red\\nhat", "", "shoes"])
    >>> texts.at(np.array([2, 0, 1]))
    ['shoes', 'a red hat', '']
    """

    letters: NDArray[np.uint8]
    """UTF-8 bytes of all texts, concatenated."""

    ends: NDArray[np.int64]
    """End position of each text in ``letters``."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> "NodeTexts":
        """Create shortened texts; each run of blanks and line breaks becomes one blank.

        Args:
            texts: Full text of each node, in row order.
        """
        short = [_shortened(text).encode(errors="replace") for text in texts]
        ends = np.cumsum([len(text) for text in short], dtype=np.int64)
        return cls(np.frombuffer(b"".join(short), dtype=np.uint8), ends)

    def __len__(self) -> int:
        return self.ends.size

    def at(self, rows: IntArray) -> list[str]:
        """Return the texts of the given nodes.

        Args:
            rows: Row numbers of the nodes.
        """
        return [self._at(row) for row in rows.tolist()]

    def __iter__(self) -> Iterator[str]:
        return map(self._at, range(len(self)))

    def _at(self, row: int) -> str:
        start = self.ends[row - 1] if row else 0
        return self.letters[start : self.ends[row]].tobytes().decode()

    def placed(self, rows: IntArray, count: int) -> "NodeTexts":
        """Return texts of more nodes, of which all others have an empty text.

        Args:
            rows: Row numbers of the nodes of these texts, ascending.
            count: Number of all nodes.
        """
        sizes = np.zeros(count, dtype=np.int64)
        sizes[rows] = np.diff(self.ends, prepend=0)
        return NodeTexts(self.letters, np.cumsum(sizes))

    def followed_by(self, more: "NodeTexts") -> "NodeTexts":
        """Return these texts followed by the texts of new nodes.

        Args:
            more: Texts of the new nodes, whose row numbers follow those of the old nodes.
        """
        return NodeTexts(
            np.concatenate((self.letters, more.letters)),
            np.concatenate((self.ends, self.letters.size + more.ends)),
        )


def _shortened(text: str) -> str:
    # Cut a very long text before splitting it into words, because splitting all of it would be
    # slow.
    return " ".join(text[: 4 * LONGEST].split())[:LONGEST].rstrip()
