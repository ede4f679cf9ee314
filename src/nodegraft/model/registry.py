"""Registry of methods by name: those of this package and of plug-ins."""

from dataclasses import fields
from pathlib import Path
from typing import Any

from nodegraft.base.parameters.build import build
from nodegraft.base.registry import Registry
from nodegraft.model.checkpoint import SavedModel, read_model
from nodegraft.model.method import Method

REGISTRY: Registry[Method] = Registry("method", "nodegraft.methods", Method)  # type: ignore[type-abstract]


def list_methods() -> list[str]:
    """Return the names of all methods, sorted."""
    return REGISTRY.names()


def make_method(name: str, **parameters: Any) -> Method:
    """Create an unfitted method by name.

    Args:
        name: As ``nodegraft lab methods`` shows it.
        parameters: Hyper-parameters by name.
    """
    return build(REGISTRY.get(name), parameters)


def has_open_set_score(name: str) -> bool:
    """Return whether a method may be in an open world: it then has a parameter ``world``."""
    return any(field.name == "world" for field in fields(REGISTRY.get(name)))


def load_model(directory: str | Path) -> Method:
    """Load a saved model of any method.

    Args:
        directory: What :meth:`nodegraft.Method.save` wrote.
    """
    return unpacked_model(read_model(Path(directory)))


def unpacked_model(saved: SavedModel) -> Method:
    """Build a model of any method from what was read of it."""
    return REGISTRY.get(saved.header["method"]).from_saved(saved)
