"""Registry of methods by name, including plug-ins, and description of a method as JSON."""

import inspect
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from nodegraft.base.errors import CheckpointError
from nodegraft.base.hashing import file_hash
from nodegraft.base.parameters.build import build
from nodegraft.base.registry import Registry
from nodegraft.model.checkpoint import SavedModel, read_model
from nodegraft.model.method import Method

REGISTRY: Registry[Method] = Registry("method", "nodegraft.methods", Method)  # type: ignore[type-abstract]


def list_methods() -> list[str]:
    """Return the sorted names of all methods."""
    return REGISTRY.names()


def make_method(name: str, **parameters: Any) -> Method:
    """Create an unfitted method by name.

    Args:
        name: Name of the method, as ``nodegraft lab methods`` shows it.
        parameters: Hyper-parameters by name.
    """
    return build(REGISTRY.get(name), parameters)


def has_open_set_score(name: str) -> bool:
    """Return whether a method has an open-set score; it then has a parameter ``world``."""
    return any(field.name == "world" for field in fields(REGISTRY.get(name)))


def load_model(directory: str | Path) -> Method:
    """Load a saved model of any method.

    Args:
        directory: Directory that :meth:`nodegraft.Method.save` wrote.
    """
    return unpacked_model(read_model(Path(directory)))


def unpacked_model(saved: SavedModel) -> Method:
    """Restore a model of any method from the content of its directory."""
    if saved.header["method"] == "multi-label":
        raise CheckpointError(
            "This is a model whose nodes may have several classes: load it with "
            "nodegraft.MultiLabel.load."
        )
    return REGISTRY.get(saved.header["method"]).from_saved(saved)


@dataclass(frozen=True)
class MethodDescription:
    """Name, parameters and source file hash of a method."""

    name: str
    """Name of the method."""

    many_shot: bool
    """Whether the method is an upper reference, which trains on most nodes of new classes."""

    parameters: dict[str, Any]
    """Values of all parameters."""

    defaults: dict[str, Any]
    """Default values of all parameters."""

    file_hash: str = ""
    """Hash of the source file; empty for a method of this package, or if there is no file."""

    @classmethod
    def of(cls, method: Method) -> Self:
        """Create the description of a method."""
        kind = type(method)
        return cls(
            method.name, kind.many_shot, method.get_params(), kind().get_params(), _hash(kind)
        )


def _hash(kind: type) -> str:
    if kind.__module__.partition(".")[0] == "nodegraft":
        return ""
    try:
        return file_hash(Path(inspect.getfile(kind)))
    except (OSError, TypeError):
        return ""  # A class that was defined in an interactive session has no file.
