"""Which code made a record."""

import inspect
from functools import cache
from importlib.metadata import version
from pathlib import Path

from nodegraft.base.hashing import content_hash, file_hash


@cache
def this_code() -> dict[str, str]:
    """The version of the package, and a hash over all its files: two commits may share a version.

    >>> sorted(this_code())
    ['hash', 'version']
    """
    package = Path(__file__).parents[3]
    files = sorted(package.rglob("*.py"))
    told = {path.relative_to(package).as_posix(): file_hash(path) for path in files}
    return {"version": version("nodegraft"), "hash": content_hash(told)}


@cache
def code_of(method: type) -> dict[str, str]:
    """Return version and hash of the code, with a hash of the file of another package's method.

    Args:
        method: The class of a method.
    """
    if method.__module__.partition(".")[0] == "nodegraft":
        return this_code()
    try:
        return {**this_code(), "method": file_hash(Path(inspect.getfile(method)))}
    except (OSError, TypeError):
        # Written at a prompt: there is no file.
        return this_code()
