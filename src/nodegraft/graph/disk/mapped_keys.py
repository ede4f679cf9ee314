"""Keys of a graph on disk: packed bytes and a hash index, which are read only when needed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import DamagedFileError
from nodegraft.graph.edges.matrix import IntArray, check_numbers, check_offsets
from nodegraft.graph.keys import Key, KeyArray, NodeKeys, integer_keys, key_hashes

WORD = 8
"""Length in bytes of the pieces in which texts are hashed and compared."""


@dataclass(frozen=True, eq=False)
class PackedTexts:
    """Texts stored as UTF-8 bytes in a single array, without a Python object for each text.

    >>> texts = PackedTexts.of(["ab", "", "a longer text"])
    >>> texts.at(np.array([2, 0])), len(texts)
    (['a longer text', 'ab'], 3)
    """

    letters: NDArray[np.uint8]
    """UTF-8 bytes of all texts, followed by the zero bytes of :func:`padding`."""

    bounds: NDArray[np.int64]
    """Start offset of each text in `letters`, followed by the end of the last text."""

    origin: str = ""
    """Names of the mapped files, whose offsets are checked when read; empty in memory."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> "PackedTexts":
        """Pack texts into a single array."""
        # UTF-8 cannot encode lone surrogates. The error handler gives them bytes that no valid text
        # contains.
        encoded = [text.encode(errors="surrogatepass") for text in texts]
        bounds = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return cls.padded(np.frombuffer(b"".join(encoded), dtype=np.uint8), bounds)

    @classmethod
    def padded(cls, letters: NDArray[np.uint8], bounds: NDArray[np.int64]) -> "PackedTexts":
        """Return packed texts from bytes without padding."""
        return cls(np.concatenate((letters, padding(letters.size))), bounds)

    def __len__(self) -> int:
        return self.bounds.size - 1

    @property
    def written(self) -> NDArray[np.uint8]:
        """UTF-8 bytes of all texts, without the padding."""
        return self.letters[: self.bounds[-1]]

    def at(self, rows: IntArray) -> list[str]:
        """Return the texts with the given row numbers as Python strings."""
        starts, ends = self._spans(rows)
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        try:
            return [self.letters[start:end].tobytes().decode() for start, end in spans]
        except UnicodeDecodeError as error:
            raise DamagedFileError(self.origin or "A text", "it is not UTF-8") from error

    def _spans(self, rows: IntArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the start and end offsets of the texts with the given row numbers."""
        starts, ends = self.bounds[rows], self.bounds[rows + 1]
        if self.origin:
            check_offsets(starts, ends, self.letters.size - WORD, self.origin, "bounds")
        return starts, ends

    def encoded(self) -> Iterator[bytes]:
        """Yield the UTF-8 bytes of each text, in order."""
        letters = self.letters.tobytes()
        for start, end in pairwise(self.bounds.tolist()):
            yield letters[start:end]

    def hashes(self) -> NDArray[np.uint64]:
        """Return a 64-bit hash of each text; the 8-byte words of a text are mixed as in SplitMix64.

        These hashes differ from those of :func:`~nodegraft.graph.keys.key_hashes`, which needs a
        Python loop over texts.
        """
        starts, lengths = self.bounds[:-1], np.diff(self.bounds)
        mixed = key_hashes(lengths)
        for place in range(_words(lengths)):
            some = _longer(lengths, place)
            words = self._word(starts[some], lengths[some], place)
            mixed[some] = key_hashes((mixed[some] ^ words).view(np.int64))
        return mixed

    def same(self, rows: IntArray, others: "PackedTexts", places: IntArray) -> NDArray[np.bool_]:
        """Compare texts pair by pair.

        Args:
            rows: For each pair, the row number of its text in this object.
            places: For each pair, the row number of its text in `others`.

        Returns:
            Whether the two texts of each pair are equal.
        """
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
        """Return word number `place` of each text: 8 bytes, with 0 after the end of the text."""
        first = starts + WORD * place
        # Combine each word from two aligned words, because aligned words are fast to read.
        whole, blocks = self.letters.view("<u8"), first >> 3
        shift = ((first & 7) << 3).view(np.uint64)
        words: NDArray[np.uint64] = whole[blocks] >> shift
        words |= whole[blocks + 1] << (np.uint64(64) - shift)
        remaining = lengths - WORD * place
        short = np.flatnonzero(remaining < WORD)
        ends = (8 * remaining[short]).astype(np.uint64)
        words[short] &= (np.uint64(1) << ends) - np.uint64(1)
        return words


def padding(size: int) -> NDArray[np.uint8]:
    """Return the zero bytes that must follow the last text.

    With them, reading words of 8 bytes never reads outside the array.
    """
    return np.zeros(-size % WORD + WORD, dtype=np.uint8)


def _words(lengths: NDArray[np.int64]) -> int:
    return -(-int(lengths.max(initial=0)) // WORD)


def _longer(lengths: NDArray[np.int64], place: int) -> slice | NDArray[np.int64]:
    """Return an index of all texts with more than `place` words; a slice if all texts have more."""
    longer = lengths > WORD * place
    return slice(None) if longer.all() else np.flatnonzero(longer)


Stored = PackedTexts | NDArray[np.int64]
"""Keys in the form in which a graph on disk stores them: packed texts, or integers."""


class MappedKeys(NodeKeys):
    """Node keys in row order, with an index for look-ups: sorted hashes, and the row of each hash.

    A look-up searches for the hash, then compares the stored key, because two keys may have the
    same hash.

    Args:
        stored: Keys of all nodes, in row order.
        hashes: Hashes of the keys from :func:`index_hashes`, in ascending order.
        rows: Row number of each hash; equal hashes are sorted by row number.
        order: All row numbers in the order of :func:`~nodegraft.graph.keys.hash_order`.
        origin: Names of the files that the index is mapped from, for error messages. Row numbers
            that come from files are checked when they are read.
    """

    def __init__(
        self,
        stored: Stored,
        hashes: NDArray[np.uint64],
        rows: IntArray,
        order: IntArray,
        origin: str = "",
    ) -> None:
        self.origin = origin
        self._stored, self._hashes, self._rows, self._order = stored, hashes, rows, order

    def __len__(self) -> int:
        return len(self._stored)

    @property
    def is_text(self) -> bool:
        """Whether keys are text rather than integers."""
        return isinstance(self._stored, PackedTexts)

    @cached_property
    def _values(self) -> KeyArray:  # type: ignore[override]
        # Create Python objects for text keys here, because only a few callers need all keys at
        # once.
        return self.array_at(np.arange(len(self)))

    def find(self, keys: Sequence[Key] | KeyArray) -> NDArray[np.int64]:
        """Return the row numbers of keys; -1 for unknown keys."""
        if self.is_text:
            is_text = np.fromiter((isinstance(key, str) for key in keys), bool, len(keys))
            rows = np.full(len(keys), -1, dtype=np.int64)
            texts = PackedTexts.of(str(key) for key in keys if isinstance(key, str))
            rows[is_text] = self.find_stored(texts)
            return rows
        integers, whole = integer_keys(keys)
        return np.where(whole, self.find_stored(integers), -1)

    def find_stored(self, keys: Stored) -> NDArray[np.int64]:
        """Like :meth:`find`, but look up keys that are already in the format of a graph on disk."""

        def same(places: IntArray, rows: IntArray) -> NDArray[np.bool_]:
            return same_keys(self._stored, rows, keys, places)

        return self._located(index_hashes(keys), same)

    def _located(
        self,
        hashes: NDArray[np.uint64],
        same: Callable[[IntArray, IntArray], NDArray[np.bool_]],
    ) -> NDArray[np.int64]:
        matches = np.full(hashes.size, -1, dtype=np.int64)
        places, unresolved = np.searchsorted(self._hashes, hashes), np.arange(hashes.size)
        while unresolved.size:
            unresolved = unresolved[places[unresolved] < self._hashes.size]
            unresolved = unresolved[self._hashes[places[unresolved]] == hashes[unresolved]]
            rows = self._rows[places[unresolved]]
            if self.origin:
                check_numbers(rows, len(self), self.origin, "the index of keys")
            hit = same(unresolved, rows)
            matches[unresolved[hit]] = rows[hit]
            # If the hash is equal but the key is not, try the next entry of the index.
            unresolved = unresolved[~hit]
            places[unresolved] += 1
        return matches

    def array_at(self, rows: IntArray | Sequence[int]) -> KeyArray:
        """Return the keys of the given rows as an array."""
        places = np.asarray(rows, dtype=np.int64)
        if not isinstance(self._stored, PackedTexts):
            return self._stored[places]
        texts = np.empty(places.size, dtype=object)
        texts[:] = self._stored.at(places)
        return texts

    def smallest_hashes(self, count: int) -> IntArray:
        """Return a random sample: `count` rows whose keys have the smallest hashes, in order."""
        rows = self._order[:count]
        if self.origin:
            check_numbers(rows, len(self), self.origin, "the order of keys")
        return rows


def index_hashes(keys: Stored) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each key for the index, without a Python loop."""
    return keys.hashes() if isinstance(keys, PackedTexts) else key_hashes(keys)


def same_keys(ours: Stored, rows: IntArray, theirs: Stored, places: IntArray) -> NDArray[np.bool_]:
    """Compare keys of two sets pair by pair, as :meth:`PackedTexts.same` does."""
    if isinstance(ours, PackedTexts) and isinstance(theirs, PackedTexts):
        return ours.same(rows, theirs, places)
    equal: NDArray[np.bool_] = np.equal(ours[rows], theirs[places])  # type: ignore[index]
    return equal
