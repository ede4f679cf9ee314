"""Short texts of nodes for display; no model uses them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import IntArray

LONGEST = 200
"""Length at which texts are cut."""


@dataclass(frozen=True, eq=False)
class NodeTexts:
    """Beginnings of texts, one for each node in row order, in one array of UTF-8.

    >>> texts = NodeTexts.of(["a  red\\nhat", "", "shoes"])
    >>> texts.at(np.array([2, 0, 1]))
    ['shoes', 'a red hat', '']
    """

    letters: NDArray[np.uint8]
    """Bytes of all texts, one after the other."""

    ends: NDArray[np.int64]
    """End of each text in ``letters``."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> "NodeTexts":
        """Return the beginnings of texts; runs of blanks and line breaks become one blank.

        Args:
            texts: One text for each node.
        """
        short = [_shortened(text).encode(errors="replace") for text in texts]
        ends = np.cumsum([len(text) for text in short], dtype=np.int64)
        return cls(np.frombuffer(b"".join(short), dtype=np.uint8), ends)

    def __len__(self) -> int:
        return self.ends.size

    def at(self, rows: IntArray) -> list[str]:
        """Return the texts of some nodes.

        Args:
            rows: The nodes, by row.
        """
        return [self._at(row) for row in rows.tolist()]

    def __iter__(self) -> Iterator[str]:
        return map(self._at, range(len(self)))

    def _at(self, row: int) -> str:
        start = self.ends[row - 1] if row else 0
        return self.letters[start : self.ends[row]].tobytes().decode()

    def followed_by(self, more: "NodeTexts") -> "NodeTexts":
        """Return these texts followed by others.

        Args:
            more: Texts of later nodes.
        """
        return NodeTexts(
            np.concatenate((self.letters, more.letters)),
            np.concatenate((self.ends, self.letters.size + more.ends)),
        )


def _shortened(text: str) -> str:
    # Splitting all of a long text would be slow.
    return " ".join(text[: 4 * LONGEST].split())[:LONGEST].rstrip()
