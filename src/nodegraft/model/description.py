"""Description of a method as data: what a record says about the code that was run."""

import inspect
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from nodegraft.base.hashing import file_hash
from nodegraft.model.method import Method


@dataclass(frozen=True)
class MethodDescription:
    """Name, parameters and file of a method."""

    name: str
    """Name of the method."""

    many_shot: bool
    """Whether it learns new classes from most of their nodes, as an upper reference."""

    parameters: dict[str, Any]
    """Values of all parameters."""

    defaults: dict[str, Any]
    """Default values of all parameters."""

    file_hash: str = ""
    """Hash of its file; empty for a method of this package, or if there is no file."""

    @classmethod
    def of(cls, method: Method) -> Self:
        """Describe a method."""
        kind = type(method)
        return cls(
            method.name, kind.many_shot, method.get_params(), kind().get_params(), _hash(kind)
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON."""
        return asdict(self)


def _hash(kind: type) -> str:
    if kind.__module__.partition(".")[0] == "nodegraft":
        return ""
    try:
        return file_hash(Path(inspect.getfile(kind)))
    except (OSError, TypeError):
        return ""  # a class written at a prompt has no file
