"""Imports of optional packages, with error messages that say what to install."""

from collections.abc import Iterator
from contextlib import contextmanager

from nodegraft.base.errors import MissingExtraError


@contextmanager
def extra(name: str, package: str, purpose: str) -> Iterator[None]:
    """Raise a MissingExtraError that names the extra if an optional package is not installed.

    >>> with extra("moon", package="lunar", purpose="Flying"):
    ...     import lunar
    Traceback (most recent call last):
    nodegraft.base.errors.MissingExtraError: Flying needs an extra: pip install 'nodegraft[moon]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if not f"{error.name}.".startswith(f"{package}."):
            raise
        raise MissingExtraError(
            f"{purpose} needs an extra: pip install 'nodegraft[{name}]'"
        ) from error
