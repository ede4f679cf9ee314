"""Which code made a record."""

from functools import cache
from importlib.metadata import version
from pathlib import Path

import nodegraft
from nodegraft.base.hashing import content_hash, file_hash


@cache
def this_code() -> dict[str, str]:
    """The version of the package, and a hash over all its files: two commits may share a version.

    >>> sorted(this_code())
    ['hash', 'version']
    """
    package = Path(nodegraft.__file__).parent
    files = sorted(package.rglob("*.py"))
    told = {path.relative_to(package).as_posix(): file_hash(path) for path in files}
    return {"version": version("nodegraft"), "hash": content_hash(told)}
