"""Many texts as one run of bytes, hashed and compared eight bytes at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.graph.keys import key_hashes

WORD = 8
"""So many bytes are looked at together; as many follow the last text, so that they can be."""


@dataclass(frozen=True, eq=False)
class PackedTexts:
    """Texts in UTF-8, none of them a Python object.

    >>> texts = PackedTexts.of(["ab", "", "a longer text"])
    >>> texts.at(np.array([2, 0])), len(texts)
    (['a longer text', 'ab'], 3)
    """

    letters: NDArray[np.uint8]
    """All texts, one after the other, and eight bytes of nothing."""

    ends: NDArray[np.int64]
    """Where each text ends."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> "PackedTexts":
        """From texts.

        Args:
            texts: In any script.
        """
        # Whatever has no UTF-8 gets bytes that no text has.
        encoded = [text.encode(errors="surrogatepass") for text in texts]
        ends = np.cumsum([len(one) for one in encoded], dtype=np.int64)
        return cls.padded(np.frombuffer(b"".join(encoded), dtype=np.uint8), ends)

    @classmethod
    def padded(cls, letters: NDArray[np.uint8], ends: NDArray[np.int64]) -> "PackedTexts":
        """From a run of bytes that nothing follows.

        Args:
            letters: All texts, one after the other.
            ends: Where each text ends.
        """
        return cls(np.concatenate((letters, np.zeros(WORD, dtype=np.uint8))), ends)

    def __len__(self) -> int:
        return self.ends.size

    def at(self, rows: IntArray) -> list[str]:
        """Some of the texts.

        Args:
            rows: Their places.
        """
        starts, lengths = self._spans(rows)
        spans = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
        return [self.letters[start:end].tobytes().decode() for start, end in spans]

    def encoded(self) -> Iterator[bytes]:
        """The UTF-8 of each text."""
        letters, start = self.letters.tobytes(), 0
        for end in self.ends.tolist():
            yield letters[start:end]
            start = end

    def hashes(self) -> NDArray[np.uint64]:
        """64 bits for each text, by the mixer of SplitMix64 over its words.

        Not those of :func:`~nodegraft.graph.keys.key_hashes`, which go through Python one by one.
        """
        starts, lengths = self._spans(np.arange(len(self)))
        mixed = key_hashes(lengths)
        for place in range(_words(lengths)):
            some = np.flatnonzero(lengths > WORD * place)
            words = self._word(starts[some], lengths[some], place)
            mixed[some] = key_hashes((mixed[some] ^ words).view(np.int64))
        return mixed

    def same(self, rows: IntArray, others: "PackedTexts", places: IntArray) -> NDArray[np.bool_]:
        """Whether texts are equal, pair by pair.

        Args:
            rows: Of these texts.
            others: Other texts.
            places: Of the others.
        """
        (mine, lengths), (theirs, other) = self._spans(rows), others._spans(places)
        equal: NDArray[np.bool_] = lengths == other
        for place in range(_words(lengths)):
            some = np.flatnonzero(equal & (lengths > WORD * place))
            one = self._word(mine[some], lengths[some], place)
            equal[some] = one == others._word(theirs[some], lengths[some], place)
        return equal

    def _spans(self, rows: IntArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        ends = self.ends[rows]
        starts = np.where(rows > 0, self.ends[np.maximum(rows - 1, 0)], 0)
        return starts, ends - starts

    def _word(
        self, starts: NDArray[np.int64], lengths: NDArray[np.int64], place: int
    ) -> NDArray[np.uint64]:
        """Eight bytes of texts that are longer than those before; what is not theirs is 0."""
        count = self.letters.size - WORD + 1
        # One number for each byte that may come first: they overlap.
        everywhere = np.ndarray(count, "<u8", self.letters, strides=(1,))
        words: NDArray[np.uint64] = everywhere[starts + WORD * place].astype(np.uint64, copy=False)
        left = lengths - WORD * place
        short = left < WORD
        if short.any():
            shifts = (8 * left[short]).astype(np.uint64)
            words[short] &= (np.uint64(1) << shifts) - np.uint64(1)
        return words


def _words(lengths: NDArray[np.int64]) -> int:
    return -(-int(lengths.max(initial=0)) // WORD)
