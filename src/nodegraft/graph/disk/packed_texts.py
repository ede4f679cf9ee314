"""Many texts as one run of bytes, hashed and compared eight bytes at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import DamagedFileError
from nodegraft.graph.edges.bounds import check_offsets
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.keys import key_hashes

WORD = 8
"""So many bytes are looked at together."""


@dataclass(frozen=True, eq=False)
class PackedTexts:
    """Texts in UTF-8, none of them a Python object.

    >>> texts = PackedTexts.of(["ab", "", "a longer text"])
    >>> texts.at(np.array([2, 0])), len(texts)
    (['a longer text', 'ab'], 3)
    """

    letters: NDArray[np.uint8]
    """All texts, one after the other, and what :func:`padding` says."""

    bounds: NDArray[np.int64]
    """Where each text begins, and where the last one ends."""

    origin: str = ""
    """The files that these are mapped from: offsets that are read are checked. Empty for texts in
    memory."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> "PackedTexts":
        """From texts."""
        # Lone surrogates have no UTF-8; they get bytes that no valid text contains.
        encoded = [text.encode(errors="surrogatepass") for text in texts]
        bounds = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return cls.padded(np.frombuffer(b"".join(encoded), dtype=np.uint8), bounds)

    @classmethod
    def padded(cls, letters: NDArray[np.uint8], bounds: NDArray[np.int64]) -> "PackedTexts":
        """From a run of bytes that nothing follows.

        Args:
            bounds: Where each text begins, and where the last one ends.
        """
        return cls(np.concatenate((letters, padding(letters.size))), bounds)

    def __len__(self) -> int:
        return self.bounds.size - 1

    @property
    def written(self) -> NDArray[np.uint8]:
        """The letters alone."""
        return self.letters[: self.bounds[-1]]

    def at(self, rows: IntArray) -> list[str]:
        """Return some of the texts."""
        starts, ends = self._spans(rows)
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        try:
            return [self.letters[start:end].tobytes().decode() for start, end in spans]
        except UnicodeDecodeError as error:
            raise DamagedFileError(self.origin or "A text", "it is not UTF-8") from error

    def _spans(self, rows: IntArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where some texts begin and end."""
        starts, ends = self.bounds[rows], self.bounds[rows + 1]
        if self.origin:
            check_offsets(starts, ends, self.letters.size - WORD, self.origin, "bounds")
        return starts, ends

    def encoded(self) -> Iterator[bytes]:
        """Return the UTF-8 of each text."""
        letters = self.letters.tobytes()
        for start, end in pairwise(self.bounds.tolist()):
            yield letters[start:end]

    def hashes(self) -> NDArray[np.uint64]:
        """64 bits for each text, by the mixer of SplitMix64 over its words.

        Not those of :func:`~nodegraft.graph.keys.key_hashes`, which go through Python one by one.
        """
        starts, lengths = self.bounds[:-1], np.diff(self.bounds)
        mixed = key_hashes(lengths)
        for place in range(_words(lengths)):
            some = _longer(lengths, place)
            words = self._word(starts[some], lengths[some], place)
            mixed[some] = key_hashes((mixed[some] ^ words).view(np.int64))
        return mixed

    def same(self, rows: IntArray, others: "PackedTexts", places: IntArray) -> NDArray[np.bool_]:
        """Return whether texts are equal, pair by pair."""
        (mine, ends), (theirs, their_ends) = self._spans(rows), others._spans(places)
        lengths = ends - mine
        equal: NDArray[np.bool_] = lengths == their_ends - theirs
        for place in range(_words(lengths)):
            some = _longer(np.where(equal, lengths, 0), place)
            words = self._word(mine[some], lengths[some], place)
            equal[some] = words == others._word(theirs[some], lengths[some], place)
        return equal

    def _word(
        self, starts: NDArray[np.int64], lengths: NDArray[np.int64], place: int
    ) -> NDArray[np.uint64]:
        """Eight bytes of texts that are longer than those before; what is not theirs is 0."""
        first = starts + WORD * place
        # Put together from two words that begin where words do: those are read quickly.
        whole, blocks = self.letters.view("<u8"), first >> 3
        shift = ((first & 7) << 3).view(np.uint64)
        words: NDArray[np.uint64] = whole[blocks] >> shift
        words |= whole[blocks + 1] << (np.uint64(64) - shift)
        left = lengths - WORD * place
        short = np.flatnonzero(left < WORD)
        ends = (8 * left[short]).astype(np.uint64)
        words[short] &= (np.uint64(1) << ends) - np.uint64(1)
        return words


def padding(size: int) -> NDArray[np.uint8]:
    """Bytes of nothing that follow the last text, so that a word can begin at each of its bytes.

    Args:
        size: How many bytes all texts have.
    """
    return np.zeros(-size % WORD + WORD, dtype=np.uint8)


def _words(lengths: NDArray[np.int64]) -> int:
    return -(-int(lengths.max(initial=0)) // WORD)


def _longer(lengths: NDArray[np.int64], place: int) -> slice | NDArray[np.int64]:
    """Return the texts that have more than a number of words; without a copy if all have."""
    longer = lengths > WORD * place
    return slice(None) if longer.all() else np.flatnonzero(longer)
