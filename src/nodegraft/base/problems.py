"""Collect several errors and raise them as one, so that users can correct all at once."""

from collections.abc import Iterator
from contextlib import contextmanager

from nodegraft.base.errors import NodegraftError, TablesError


class Problems:
    """Collector of the errors of several checks, which are raised together.

    >>> problems = Problems()
    >>> for text in ("3", "x", "y"):
    ...     with problems.collect():
    ...         if not text.isdigit():
    ...             raise NodegraftError(f"{text!r} is no number.")
    >>> problems.raise_all()
    Traceback (most recent call last):
    nodegraft.base.errors.NodegraftError: 2 problems:
    - 'x' is no number.
    - 'y' is no number.
    """

    def __init__(self) -> None:
        self._errors = list[NodegraftError]()

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Collect a NodegraftError of the ``with`` block instead of raising it."""
        try:
            yield
        except NodegraftError as error:
            self._errors.append(error)

    def __bool__(self) -> bool:
        return bool(self._errors)

    def raise_all(self) -> None:
        """Raise a single error for all collected errors; do nothing if there are none.

        If there are several, the error has the class of the first, and its message lists all
        distinct messages.
        """
        if not self._errors:
            return
        # Prefer the class TablesError, because callers replace the advice of such errors by their
        # own.
        first = next((e for e in self._errors if isinstance(e, TablesError)), self._errors[0])
        problems = tuple(dict.fromkeys(text for error in self._errors for text in _texts(error)))
        if len(problems) > 1:
            first.problems = problems
            message, what_happened = map(_listed, zip(*first.problems, strict=True))
            first.args, first.what_happened = (message,), what_happened
        raise first


def _texts(error: NodegraftError) -> tuple[tuple[str, str], ...]:
    return error.problems or ((str(error), error.what_happened or str(error)),)


def _listed(texts: tuple[str, ...]) -> str:
    return "\n- ".join([f"{len(texts)} problems:", *texts])
