"""Which code made a record."""

from functools import cache
from importlib.metadata import version
from pathlib import Path

from nodegraft.base.hashing import content_hash, file_hash
from nodegraft.model.registry import MethodDescription


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


def code_of(method: MethodDescription) -> dict[str, str]:
    """Return :func:`this_code`, and the hash of the file of a method of another package."""
    return this_code() | ({"method": method.file_hash} if method.file_hash else {})
