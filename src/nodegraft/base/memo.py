"""Thread-safe caches in memory for values that are slow to compute."""

from collections.abc import Callable, Hashable
from threading import RLock
from typing import Generic, TypeVar
from weakref import ref

Value = TypeVar("Value")


class Memo(Generic[Value]):
    """Thread-safe cache by key; a lock ensures that each value is computed only once.

    A copied or unpickled cache is empty.

    >>> memo = Memo[int]()
    >>> memo.get("answer", lambda: 42), memo.get("answer", lambda: 0)
    (42, 42)

    Args:
        most: Maximum number of values; if there are more, the oldest is evicted. None for no limit.
    """

    def __init__(self, most: int | None = None) -> None:
        self._values: dict[Hashable, Value] = {}
        self._most = most
        self._lock = RLock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key; if it is not cached, compute and cache it."""
        try:
            return self._values[key]
        except KeyError:
            with self._lock:
                if key not in self._values:
                    value = make()
                    if self._most is not None and len(self._values) >= self._most:
                        del self._values[next(iter(self._values))]
                    self._values[key] = value
                return self._values[key]

    def clear(self) -> None:
        """Remove all values from this cache."""
        with self._lock:
            self._values.clear()

    def peek(self, key: Hashable) -> Value | None:
        """Return the cached value of a key; None if there is none."""
        return self._values.get(key)

    def put(self, key: Hashable, value: Value) -> None:
        """Add a value to the cache, unless the key has a value already."""
        self.get(key, lambda: value)

    def values(self) -> list[Value]:
        """Return all cached values."""
        with self._lock:
            return list(self._values.values())

    def followed(self, change: Callable[[Value], Value]) -> "Memo[Value]":
        """Return a new cache with the same keys, and with ``change`` applied to every value."""
        memo = Memo[Value](self._most)
        with self._lock:
            copies = dict(self._values)
        memo._values = {key: change(value) for key, value in copies.items()}
        return memo

    def __reduce__(self) -> tuple[type["Memo[Value]"], tuple[int | None]]:
        return type(self), (self._most,)


class LatestMemo(Generic[Value]):
    """Cache of a single value, which is valid for the objects from which it was computed.

    The cache has only weak references to these objects. A copied or unpickled cache is empty.

    >>> memo, one, other = LatestMemo[int](), {1}, {1}
    >>> memo.get((one,), lambda: 42), memo.get((one,), lambda: 0), memo.get((other,), lambda: 7)
    (42, 42, 7)
    """

    def __init__(self) -> None:
        self._latest: tuple[tuple[ref[object], ...], Value] | None = None
        self._lock = RLock()

    def get(self, made_from: tuple[object, ...], make: Callable[[], Value]) -> Value:
        """Return the cached value if it was computed from the given objects; otherwise compute it.

        Args:
            made_from: Objects that the value is computed from; compared by identity (``is``).
        """
        with self._lock:
            latest = self._latest
            if latest is None or any(
                old() is not new for old, new in zip(latest[0], made_from, strict=True)
            ):
                latest = self._latest = (tuple(map(ref, made_from)), make())
            return latest[1]

    @property
    def latest(self) -> Value | None:
        """Most recently computed value; None if no value was computed."""
        latest = self._latest
        return None if latest is None else latest[1]

    def __reduce__(self) -> tuple[type["LatestMemo[Value]"], tuple[()]]:
        return type(self), ()
