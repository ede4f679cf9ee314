"""Node keys (text or integers), and the mapping from keys to row numbers."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import DataError, ParameterError, UnknownNodeError
from nodegraft.graph.edges.matrix import IntArray, located

Key: TypeAlias = str | int
KeyArray: TypeAlias = NDArray[Any]
"""Array of node keys: int64 for integers, objects for text."""

KeyType: TypeAlias = Literal["text", "integer"]
"""Type of the keys of a graph: all keys are text or all keys are integers."""

CANONICAL = r"(0|-?[1-9][0-9]*)"
"""Regular expression of an integer key written as text. It does not match 007, +7 and " 7", because
as text they differ from 7.
"""

_INTEGERS = (int, np.integer)
_LIMIT = 1 << 63
_MOST_DIGITS = len(str(-_LIMIT))


class NodeKeys:
    """Immutable, ordered set of node keys; the position of a key is the row number of its node.

    >>> keys = NodeKeys(["p17", "p3"]); keys.rows(["p3"]).tolist(), keys.at([0])
    ([1], ['p17'])

    Args:
        keys: Unique key of each row, all text or all integers; duplicates raise DataError.
    """

    def __init__(self, keys: Sequence[Key] | KeyArray) -> None:
        self._values: KeyArray = key_array(keys)
        if len(self._repeated):
            examples = ", ".join(repr(key) for key in self._repeated[:5].tolist())
            raise DataError(f"{len(self._repeated)} node keys occur more than once: {examples}.")

    def __len__(self) -> int:
        return int(self._values.size)

    @property
    def is_text(self) -> bool:
        """Whether keys are text instead of integers."""
        return self._values.dtype == object

    @property
    def key_type(self) -> KeyType:
        """Type of the keys: "text" or "integer"."""
        return "text" if self.is_text else "integer"

    @property
    def _repeated(self) -> KeyArray:
        if self.is_text and len(self._row_of_text) == len(self):
            return self._values[:0]
        values, counts = np.unique(self._values, return_counts=True)
        return values[counts > 1]

    @cached_property
    def _row_of_text(self) -> dict[str, int]:
        return {key: row for row, key in enumerate(self._values.tolist())}

    @cached_property
    def _sorted(self) -> tuple[IntArray, IntArray]:
        order = np.argsort(self._values, kind="stable")
        return self._values[order], order

    def rows(self, keys: Iterable[Key] | KeyArray) -> NDArray[np.int64]:
        """Return the row numbers of keys in the given order; missing keys raise an error.

        Args:
            keys: Keys of nodes, in any order; a single string raises ParameterError.
        """
        sequence = _in_order(keys)
        rows = self.find(sequence)
        missing = [sequence[place] for place in np.flatnonzero(rows < 0)]
        missing = [key.item() if isinstance(key, np.generic) else key for key in missing]
        if missing:
            raise UnknownNodeError(missing, rows.size, self.key_type)
        return rows

    def find(self, keys: Sequence[Key] | KeyArray) -> NDArray[np.int64]:
        """Return the row numbers of keys in the given order; -1 for keys that do not exist."""
        if self.is_text:
            lookup = self._row_of_text
            places = (lookup.get(key, -1) if isinstance(key, str) else -1 for key in keys)
            return np.fromiter(places, dtype=np.int64, count=len(keys))
        numbers, whole = integer_keys(keys)
        if len(self) == 0:
            return np.full(numbers.size, -1, dtype=np.int64)
        values, order = self._sorted
        place, is_there = located(values, numbers)
        return np.where(whole & is_there, order[place], -1).astype(np.int64)

    def at(self, rows: IntArray | Sequence[int]) -> list[Key]:
        """Return the keys of the given rows as a list, in the given order."""
        keys: list[Key] = self.array_at(rows).tolist()
        return keys

    def array_at(self, rows: IntArray | Sequence[int]) -> KeyArray:
        """Return the keys of the given rows as an array, in the given order."""
        return self._values[np.asarray(rows, dtype=np.int64)]

    origin = ""
    """Name of the file that the keys are mapped from; empty for keys in memory."""

    def values(self) -> KeyArray:
        """Return all keys in row order: int64 for integers, objects for text."""
        return self._values

    @cached_property
    def _by_hash(self) -> IntArray:
        return hash_order(self.values())

    def smallest_hashes(self, count: int) -> IntArray:
        """Return a random sample: ``count`` rows whose keys have the smallest hashes, in order."""
        return self._by_hash[:count]


def integer_key(text: str) -> int:
    """Parse an integer node key that is written as text.

    >>> integer_key("12")
    12

    Args:
        text: Key as text, without leading zeros: ``007`` is refused, because it differs from ``7``.

    Raises:
        DataError: If the text is not a valid integer key.
    """
    is_integer = len(text) <= _MOST_DIGITS and re.fullmatch(CANONICAL, text)
    if is_integer and -_LIMIT <= int(text) < _LIMIT:
        return int(text)
    raise DataError(
        f"The keys of this graph are integers, and {text!r} is not one: write it with digits only, "
        "without leading zeros, below 2**63."
    )


def integer_key_or_text(text: str) -> Key:
    """Parse an integer node key; return text that is not an integer unchanged, as an unknown key.

    >>> integer_key_or_text("7"), integer_key_or_text("007")
    (7, '007')
    """
    try:
        return integer_key(text)
    except DataError:
        return text


def _in_order(keys: Iterable[Key] | KeyArray) -> list[Any] | KeyArray:
    if isinstance(keys, set | frozenset):
        raise ParameterError("A list of node keys is needed; a set has no order: sort it.")
    if not isinstance(keys, np.ndarray):
        listed = several(keys, "node keys")
        # Refuse booleans, because NumPy would convert True and False to 1 and 0.
        if any(key is True or key is False for key in listed):
            raise DataError("Node keys must be all text or all integers, not true or false.")
        return listed
    if keys.ndim != 1:
        raise ParameterError(f"A flat list of node keys is needed; this has shape {keys.shape}.")
    return keys


def several(values: Iterable[Any], what: str) -> list[Any]:
    """Convert an iterable of values to a list; raise ParameterError if it is a single string.

    >>> several(("p1", "p2"), "node keys")
    ['p1', 'p2']

    Args:
        what: Name of the values in the error message.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ParameterError(f"A list of {what} is needed, not {values!r}: write [{values!r}].")
    return list(values)


def key_hashes(keys: KeyArray) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each key, for samples that do not depend on the row order.

    Integers are hashed with the mixer of SplitMix64 (Steele et al. 2014), text with BLAKE2.

    >>> key_hashes(np.array([7, 8])).tolist() == key_hashes(np.array([8, 7])).tolist()[::-1]
    True
    """
    if keys.dtype == object:
        return text_hashes(key.encode() for key in keys)
    mixed = keys.astype(np.int64).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    hashes: NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return hashes


def text_hashes(encoded: Iterable[bytes]) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each text key, which is given as UTF-8 bytes."""
    digests = (hashlib.blake2b(key, digest_size=8).digest() for key in encoded)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def hash_order(keys: KeyArray, seed: int = 0) -> NDArray[np.int64]:
    """Return the positions of keys sorted by hash; the first positions are a random sample.

    The sample of a large set can be drawn in parts: each of its keys is also in the sample of the
    part that contains the key.

    >>> keys = np.arange(100)
    >>> parts = [part[hash_order(part)[:9]] for part in (keys[:60], keys[60:])]
    >>> both = np.concatenate(parts)
    >>> np.array_equal(keys[hash_order(keys)[:9]], both[hash_order(both)[:9]])
    True

    Args:
        seed: Seed of the random order; 0 for the order of :func:`key_hashes`.
    """
    hashes = key_hashes(keys)
    if seed:
        hashes = key_hashes((hashes + np.uint64(seed)).view(np.int64))
    return np.argsort(hashes, kind="stable")


def key_array(keys: Sequence[Key] | KeyArray) -> KeyArray:
    """Convert keys to an array: int64 for integers, objects for text.

    Args:
        keys: Keys, all text or all integers (below 2**63); others raise DataError.
    """
    listed = _in_order(keys)
    try:
        array = np.asarray(listed)
    except ValueError:  # NumPy raises it for lists of different lengths.
        array = np.zeros((0, 0))
    if array.ndim != 1:
        raise DataError("Node keys must be all text or all integers, not lists.")
    if array.size == 0:
        return array.astype(np.int64)
    if np.issubdtype(array.dtype, np.integer):
        if array.dtype == np.uint64 and array.max() >= _LIMIT:
            raise DataError("Integer node keys must be below 2**63: give larger ones as text.")
        return array.astype(np.int64)
    texts = np.empty(len(listed), dtype=object)
    texts[:] = [key.item() if isinstance(key, np.generic) else key for key in listed]
    if not all(isinstance(key, str) for key in texts):
        raise DataError("Node keys must be all text or all integers, without missing values.")
    return texts


def pack_keys(keys: KeyArray) -> dict[str, NDArray[Any]]:
    """Convert keys to arrays of numbers for saving.

    >>> [array.tolist() for array in pack_keys(np.array(["ab", "c"], dtype=object)).values()]
    [[97, 98, 99], [2, 3]]
    """
    if keys.dtype != object:
        return {"integers": keys}
    encoded = [key.encode() for key in keys]
    ends = np.cumsum([len(key) for key in encoded], dtype=np.int64)
    return {"text": np.frombuffer(b"".join(encoded), dtype=np.uint8), "ends": ends}


def unpack_keys(arrays: Mapping[str, NDArray[Any]]) -> KeyArray:
    """Convert the arrays of :func:`pack_keys` back to an array of keys."""
    if "integers" in arrays:
        return arrays["integers"].astype(np.int64)
    text, ends = arrays["text"].tobytes(), arrays["ends"].tolist()
    starts = [0, *ends[:-1]]
    keys = np.empty(len(ends), dtype=object)
    keys[:] = [text[a:b].decode() for a, b in zip(starts, ends, strict=True)]
    return keys


def integer_keys(
    keys: Sequence[Any] | KeyArray,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Convert keys to integers, and return a mask of the valid keys.

    1.5 and "1" are not valid. Invalid keys become 0.
    """
    if isinstance(keys, np.ndarray) and keys.dtype.kind == "i":
        return keys.astype(np.int64), np.ones(keys.size, dtype=bool)
    fits = [isinstance(key, _INTEGERS) and -_LIMIT <= key < _LIMIT for key in keys]
    numbers = [key if fit else 0 for key, fit in zip(keys, fits, strict=True)]
    return np.array(numbers, dtype=np.int64), np.array(fits, dtype=bool)
