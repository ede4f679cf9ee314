"""Import optional packages; if one is missing, the error message says what to install."""

from collections.abc import Iterator
from contextlib import contextmanager

from nodegraft.base.errors import MissingExtraError


@contextmanager
def extra(name: str, package: str, purpose: str) -> Iterator[None]:
    """Context manager for optional imports; the error for a missing package names its extra.

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
