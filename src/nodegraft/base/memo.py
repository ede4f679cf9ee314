"""Thread-safe caches of values that are slow to compute."""

from collections.abc import Callable, Hashable
from threading import RLock
from typing import Generic, TypeVar
from weakref import ref

Value = TypeVar("Value")


class Memo(Generic[Value]):
    """A cache whose entries are made under a lock, so that no two threads make the same one.

    Copies and pickles start empty: a cache is no part of what its owner is.

    >>> memo = Memo[int]()
    >>> memo.get("answer", lambda: 42), memo.get("answer", lambda: 0)
    (42, 42)

    Args:
        most: So many values are kept; beyond, the oldest is made anew when it is asked for.
    """

    def __init__(self, most: int | None = None) -> None:
        self._values: dict[Hashable, Value] = {}
        self._most = most
        self._lock = RLock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key; compute it on first use.

        Args:
            make: Makes it, if nobody has asked for the key before.
        """
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
        """Forget all values."""
        with self._lock:
            self._values.clear()

    def peek(self, key: Hashable) -> Value | None:
        """Return the value of a key; None if it was not computed."""
        return self._values.get(key)

    def put(self, key: Hashable, value: Value) -> None:
        """Add a value that was computed elsewhere.

        Args:
            value: It stays if the key has none.
        """
        self.get(key, lambda: value)

    def values(self) -> list[Value]:
        """Return all cached values."""
        with self._lock:
            return list(self._values.values())

    def followed(self, change: Callable[[Value], Value]) -> "Memo[Value]":
        """Return a cache with changed values."""
        memo = Memo[Value](self._most)
        with self._lock:
            made = dict(self._values)
        memo._values = {key: change(value) for key, value in made.items()}
        return memo

    def __reduce__(self) -> tuple[type["Memo[Value]"], tuple[int | None]]:
        return type(self), (self._most,)


class LatestMemo(Generic[Value]):
    """Cache of one value, valid for the objects that it was computed from.

    They are held weakly: what has been replaced can be freed. Copies and pickles start empty.

    >>> memo, one, other = LatestMemo[int](), {1}, {1}
    >>> memo.get((one,), lambda: 42), memo.get((one,), lambda: 0), memo.get((other,), lambda: 7)
    (42, 42, 7)
    """

    def __init__(self) -> None:
        self._latest: tuple[tuple[ref[object], ...], Value] | None = None
        self._lock = RLock()

    def get(self, made_from: tuple[object, ...], make: Callable[[], Value]) -> Value:
        """Return the value for some objects; compute it if they have changed.

        Args:
            made_from: The objects; the very same ones are looked for, not equal ones.
            make: Makes it, if the last value was made from others.
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
        """Last value, from any objects."""
        latest = self._latest
        return None if latest is None else latest[1]

    def __reduce__(self) -> tuple[type["LatestMemo[Value]"], tuple[()]]:
        return type(self), ()
