"""Learned attributes of a method: declared in its class, so that a saved state can be checked."""

from dataclasses import Field, field, fields
from functools import cache
from typing import Any, get_origin, get_type_hints

import numpy as np
from torch import Tensor

from nodegraft.graph.keyed_labels import KeyedLabels

_MARK = "learned"


def learned() -> Any:
    """Declare an attribute that hooks set: ``means_: Matrix = learned()``.

    It is not a parameter of the constructor, and does not exist before it is learned. Its
    annotation decides how it is saved.
    """
    return field(init=False, repr=False, compare=False, metadata={_MARK: True})


@cache
def learned_kinds(cls: type) -> dict[str, str]:
    """Return the learned attributes of a class, and how each is saved.

    ``array`` (NumPy), ``tensor``, ``tensors`` (a dict of them), ``labels`` (by key), or ``json``.
    """
    hints = get_type_hints(cls)
    return {field.name: _kind(hints[field.name]) for field in fields(cls) if is_learned(field)}


def learned_json(cls: type) -> dict[str, Any]:
    """Return the annotations of the learned attributes that are saved as JSON."""
    hints = get_type_hints(cls, include_extras=True)
    return {name: hints[name] for name, kind in learned_kinds(cls).items() if kind == "json"}


def is_learned(one: "Field[Any]") -> bool:
    """Return whether a field of a dataclass was declared by :func:`learned`."""
    return bool(one.metadata.get(_MARK))


def _kind(annotation: Any) -> str:
    origin = get_origin(annotation) or annotation
    if origin is KeyedLabels:
        return "labels"
    if origin is Tensor:
        return "tensor"
    if origin is np.ndarray:
        return "array"
    if annotation == dict[str, Tensor]:
        return "tensors"
    return "json"
