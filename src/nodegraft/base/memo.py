"""Values that are expensive to make: made once, however many threads ask for them."""

from collections.abc import Callable, Hashable
from threading import RLock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Memo(Generic[Value]):
    """A cache whose entries are made under a lock, so that no two threads make the same one.

    Copies and pickles start empty: a cache is no part of what its owner is.

    >>> memo = Memo[int]()
    >>> memo.get("answer", lambda: 42), memo.get("answer", lambda: 0)
    (42, 42)
    """

    def __init__(self) -> None:
        self._values: dict[Hashable, Value] = {}
        self._lock = RLock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key.

        Args:
            key: What the value is known by.
            make: Makes it, if nobody has asked for the key before.
        """
        try:
            return self._values[key]
        except KeyError:
            with self._lock:
                if key not in self._values:
                    self._values[key] = make()
                return self._values[key]

    def __reduce__(self) -> tuple[type["Memo[Value]"], tuple[()]]:
        return type(self), ()
