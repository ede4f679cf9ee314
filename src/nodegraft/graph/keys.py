"""The user's names for nodes (text or integers) beside dense row numbers."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import DataError, UnknownNodeError
from nodegraft.graph.matrix import IntArray

Key: TypeAlias = str | int


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

    def rows(self, keys: Iterable[Key]) -> NDArray[np.int64]:
        """Row numbers of keys, in the given order; every key that is missing is named."""
        wanted = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
        rows = self._find(wanted)
        if (rows < 0).any():
            missing = [key for key, row in zip(wanted, rows, strict=True) if row < 0]
            raise UnknownNodeError(missing, len(wanted))
        return rows

    def _find(self, wanted: list[Key]) -> NDArray[np.int64]:
        if self.is_text:
            lookup = self._row_of_text
            found = (lookup.get(key, -1) if isinstance(key, str) else -1 for key in wanted)
            return np.fromiter(found, dtype=np.int64, count=len(wanted))
        if any(isinstance(key, str) for key in wanted) or len(self) == 0:
            return np.full(len(wanted), -1, dtype=np.int64)
        values, order = self._sorted
        asked = np.array(wanted, dtype=np.int64)
        place = np.minimum(np.searchsorted(values, asked), len(self) - 1)
        return np.where(values[place] == asked, order[place], -1).astype(np.int64)

    def contains(self, keys: Sequence[Key] | NDArray[Any]) -> NDArray[np.bool_]:
        """Which of these keys exist."""
        wanted = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
        return self._find(wanted) >= 0

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


def _as_array(keys: Sequence[Key] | NDArray[Any]) -> NDArray[Any]:
    array = np.asarray(keys)
    if array.size == 0:
        return array.astype(np.int64)
    if np.issubdtype(array.dtype, np.integer):
        return array.astype(np.int64)
    texts = np.empty(len(keys), dtype=object)
    texts[:] = [key.item() if isinstance(key, np.generic) else key for key in keys]
    if not all(isinstance(key, str) for key in texts):
        raise DataError("Node keys must be all text or all integers, without missing values.")
    return texts
