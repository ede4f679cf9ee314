"""The user's names for nodes (text or integers) beside dense row numbers."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import DataError, UnknownNodeError
from nodegraft.graph.matrix import IntArray

Key: TypeAlias = str | int

_INTEGERS = (int, np.integer)
_LIMIT = 1 << 63


class NodeKeys:
    """An immutable, ordered set of keys; the row of a key never changes once given.

    >>> keys = NodeKeys(["p17", "p3"]); keys.rows(["p3"]).tolist(), keys.at([0])
    ([1], ['p17'])
    """

    def __init__(self, keys: Sequence[Key] | IntArray) -> None:
        self._values: NDArray[Any] = _as_array(keys)
        if len(self._repeated):
            shown = ", ".join(repr(key) for key in self._repeated[:5].tolist())
            raise DataError(f"{len(self._repeated)} node keys occur more than once: {shown}.")

    def __len__(self) -> int:
        return int(self._values.size)

    @property
    def is_text(self) -> bool:
        """Whether keys are text rather than integers."""
        return self._values.dtype == object

    @property
    def _repeated(self) -> NDArray[Any]:
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

    def rows(self, keys: Iterable[Key] | NDArray[Any]) -> NDArray[np.int64]:
        """Row numbers of keys, in the given order; every key that is missing is named."""
        wanted = keys if isinstance(keys, np.ndarray) else list(keys)
        rows = self.find(wanted)
        missing = [wanted[place] for place in np.flatnonzero(rows < 0)]
        if missing:
            raise UnknownNodeError(missing, rows.size)
        return rows

    def find(self, keys: Sequence[Key] | NDArray[Any]) -> NDArray[np.int64]:
        """Row numbers of keys, -1 for those that do not exist."""
        if self.is_text:
            lookup = self._row_of_text
            found = (lookup.get(key, -1) if isinstance(key, str) else -1 for key in keys)
            return np.fromiter(found, dtype=np.int64, count=len(keys))
        asked, whole = _integers(keys)
        if len(self) == 0:
            return np.full(asked.size, -1, dtype=np.int64)
        values, order = self._sorted
        place = np.minimum(np.searchsorted(values, asked), len(self) - 1)
        return np.where(whole & (values[place] == asked), order[place], -1).astype(np.int64)

    def at(self, rows: IntArray | Sequence[int]) -> list[Key]:
        """Keys of rows, in the given order."""
        keys: list[Key] = self._values[np.asarray(rows, dtype=np.int64)].tolist()
        return keys

    def values(self) -> NDArray[Any]:
        """All keys, in row order: int64 or objects (text)."""
        return self._values

    def extend(self, keys: Sequence[Key]) -> "NodeKeys":
        """These keys and new ones after them; a key that exists already is refused."""
        added = _as_array(keys)
        if len(self) and added.size and (added.dtype == object) != self.is_text:
            raise DataError("New node keys must be of the same type as the old ones.")
        return NodeKeys(np.concatenate((self._values, added)))


def _integers(keys: Sequence[Any] | NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The keys as integers, and which of them are: 1.5 and "1" are not, though NumPy obliges."""
    if isinstance(keys, np.ndarray) and keys.dtype.kind == "i":
        return keys.astype(np.int64), np.ones(keys.size, dtype=bool)
    fits = [isinstance(key, _INTEGERS) and -_LIMIT <= key < _LIMIT for key in keys]
    numbers = [key if fit else 0 for key, fit in zip(keys, fits, strict=True)]
    return np.array(numbers, dtype=np.int64), np.array(fits, dtype=bool)


def _as_array(keys: Sequence[Key] | NDArray[Any]) -> NDArray[Any]:
    array = np.asarray(keys)
    if array.size == 0:
        return array.astype(np.int64)
    if np.issubdtype(array.dtype, np.integer):
        if array.dtype == np.uint64 and array.max() >= _LIMIT:
            raise DataError("Integer node keys must be below 2**63: give larger ones as text.")
        return array.astype(np.int64)
    texts = np.empty(len(keys), dtype=object)
    texts[:] = [key.item() if isinstance(key, np.generic) else key for key in keys]
    if not all(isinstance(key, str) for key in texts):
        raise DataError("Node keys must be all text or all integers, without missing values.")
    return texts
