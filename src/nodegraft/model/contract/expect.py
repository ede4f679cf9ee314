"""Errors for broken rules of the contract."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from nodegraft.base.errors import NodegraftError


class ContractError(NodegraftError, AssertionError):
    """A method does not do what every method must."""


def expect(holds: bool, otherwise: str) -> None:
    """Raise an error if a rule does not hold.

    Args:
        holds: Whether it does.
        otherwise: What is wrong if it does not.
    """
    if not holds:
        raise ContractError(otherwise)


def expect_close(found: Any, wanted: Any, tolerance: float, otherwise: str) -> None:
    """Raise an error if numbers differ by more than a tolerance.

    Args:
        found: An array.
        wanted: Another one, of the same shape.
        tolerance: How far numbers may be apart.
        otherwise: What is wrong if they are further.
    """
    expect(found.shape == wanted.shape, f"{otherwise} (shapes {found.shape} and {wanted.shape})")
    apart = float(np.abs(found - wanted).max()) if found.size else 0.0
    expect(apart <= tolerance, f"{otherwise} (apart by {apart:.2g})")


@contextmanager
def must_raise(error: type[Exception], what: str, words: str = "") -> Iterator[None]:
    """Require that the block raises an error.

    Args:
        error: The kind of error it must raise.
        what: What is tried.
        words: What the error must say.
    """
    try:
        yield
    except error as caught:
        expect(words in str(caught), f"{what}: the error does not say {words!r} but {caught}")
        return
    raise ContractError(f"{what} raises no error")
