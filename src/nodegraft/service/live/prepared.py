"""Answers that take long to work out: made once, while others are answered."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import anyio
from anyio.to_thread import run_sync

KEPT = 4
"""So many answers of a kind are kept: a page switches between the live and a candidate version."""

Value = TypeVar("Value")


class Prepared:
    """The last answers of each kind, one of a kind made at a time; who waits takes no thread."""

    def __init__(self) -> None:
        self._turns = defaultdict[str, anyio.Lock](anyio.Lock)
        self._last = defaultdict[str, dict[Hashable, Any]](dict)

    def clear(self) -> None:
        """Forget all answers; those that are being made are not kept either."""
        self._last.clear()

    async def get(self, kind: str, about: Hashable, make: Callable[[], Value]) -> Value:
        """An answer, made if none of the last ones of its kind was about the same.

        Args:
            kind: What is asked for.
            about: What the answer depends on, such as the number of a version.
            make: Makes it.
        """
        async with self._turns[kind]:
            last = self._last[kind]
            if about not in last:
                last[about] = await run_sync(make)
                if len(last) > KEPT:
                    del last[next(iter(last))]
            value: Value = last[about]
            return value
