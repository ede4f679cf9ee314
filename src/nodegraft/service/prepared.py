"""Answers that take long to work out: made once, while others are answered."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import anyio
from anyio.to_thread import run_sync

Value = TypeVar("Value")


class Prepared:
    """The last answer of each kind, one of a kind made at a time; who waits takes no thread."""

    def __init__(self) -> None:
        self._turns = defaultdict[str, anyio.Lock](anyio.Lock)
        self._last: dict[str, tuple[Hashable, Any]] = {}

    async def get(self, kind: str, about: Hashable, make: Callable[[], Value]) -> Value:
        """An answer, made if the last one of its kind was about something else.

        Args:
            kind: What is asked for.
            about: What the answer depends on, such as the number of a version.
            make: Makes it.
        """
        async with self._turns[kind]:
            if kind not in self._last or self._last[kind][0] != about:
                self._last[kind] = about, await run_sync(make)
            value: Value = self._last[kind][1]
            return value
