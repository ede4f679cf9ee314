"""The keys of a graph on disk: packed bytes with an index, read only when needed."""

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


Stored = PackedTexts | NDArray[np.int64]
"""Keys as they lie on the disk: texts or integers."""


class MappedKeys(NodeKeys):
    """Keys in row order, and an index: their hashes in ascending order with the row of each.

    A look-up searches for the hash, then compares the stored key, because two keys may have the
    same hash.

    Args:
        stored: The keys, in row order.
        hashes: Hashes of the keys from :func:`index_hashes`, in ascending order.
        rows: The row of each hash; of equal hashes the smaller row comes first.
        order: The rows in the order of :func:`~nodegraft.graph.keys.hash_order`.
        origin: The files that these are mapped from; rows that are read are checked.
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
        # Python objects where keys are text: for who needs all of them at once.
        return self.array_at(np.arange(len(self)))

    def find(self, keys: Sequence[Key] | KeyArray) -> NDArray[np.int64]:
        """Return row numbers of keys, -1 for unknown keys."""
        if self.is_text:
            is_text = np.fromiter((isinstance(key, str) for key in keys), bool, len(keys))
            found = np.full(len(keys), -1, dtype=np.int64)
            texts = PackedTexts.of(str(key) for key in keys if isinstance(key, str))
            found[is_text] = self.find_stored(texts)
            return found
        integers, whole = integer_keys(keys)
        return np.where(whole, self.find_stored(integers), -1)

    def find_stored(self, keys: Stored) -> NDArray[np.int64]:
        """Return the rows of keys that are packed already."""

        def same(places: IntArray, rows: IntArray) -> NDArray[np.bool_]:
            return same_keys(self._stored, rows, keys, places)

        return self._located(index_hashes(keys), same)

    def _located(
        self,
        hashes: NDArray[np.uint64],
        same: Callable[[IntArray, IntArray], NDArray[np.bool_]],
    ) -> NDArray[np.int64]:
        found = np.full(hashes.size, -1, dtype=np.int64)
        places, left = np.searchsorted(self._hashes, hashes), np.arange(hashes.size)
        while left.size:
            left = left[places[left] < self._hashes.size]
            left = left[self._hashes[places[left]] == hashes[left]]
            rows = self._rows[places[left]]
            if self.origin:
                check_numbers(rows, len(self), self.origin, "the index of keys")
            hit = same(left, rows)
            found[left[hit]] = rows[hit]
            # The hash is equal but the key is not: try the next entry of the index.
            left = left[~hit]
            places[left] += 1
        return found

    def array_at(self, rows: IntArray | Sequence[int]) -> KeyArray:
        """Return the keys of rows as an array."""
        places = np.asarray(rows, dtype=np.int64)
        if not isinstance(self._stored, PackedTexts):
            return self._stored[places]
        texts = np.empty(places.size, dtype=object)
        texts[:] = self._stored.at(places)
        return texts

    def smallest_hashes(self, count: int) -> IntArray:
        """Return the rows whose keys have the smallest hashes, in the order of hashes."""
        rows = self._order[:count]
        if self.origin:
            check_numbers(rows, len(self), self.origin, "the order of keys")
        return rows


def index_hashes(keys: Stored) -> NDArray[np.uint64]:
    """64 bits for each key, made without a loop."""
    return keys.hashes() if isinstance(keys, PackedTexts) else key_hashes(keys)


def same_keys(ours: Stored, rows: IntArray, theirs: Stored, places: IntArray) -> NDArray[np.bool_]:
    """Return whether keys are equal, pair by pair.

    Args:
        theirs: Other keys, of the same type.
    """
    if isinstance(ours, PackedTexts) and isinstance(theirs, PackedTexts):
        return ours.same(rows, theirs, places)
    equal: NDArray[np.bool_] = np.equal(ours[rows], theirs[places])  # type: ignore[index]
    return equal
