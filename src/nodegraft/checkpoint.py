"""A model's learned state <-> arrays plus JSON, and a directory that holds them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.bundle import read_bundle, write_bundle
from nodegraft.base.errors import CheckpointError

SCHEMA = 1


@dataclass(frozen=True)
class State:
    """What a model learned: named arrays, and JSON for everything else."""

    arrays: dict[str, NDArray[Any]]
    document: dict[str, Any]

    @property
    def nbytes(self) -> int:
        """Bytes to keep it."""
        return sum(array.nbytes for array in self.arrays.values()) + len(json.dumps(self.document))


def pack(attributes: Mapping[str, Any]) -> State:
    """Sort attributes into arrays and JSON; anything that is neither is refused.

    Arrays, tensors and ``dict[str, Tensor]`` (a module's ``state_dict``) go to arrays.

    >>> state = pack({"means_": torch.zeros(2, 3), "classes_seen_": 4})
    >>> sorted(state.arrays), unpack(state)["classes_seen_"]
    (['means_'], 4)
    """
    arrays: dict[str, NDArray[Any]] = {}
    document: dict[str, Any] = {}
    for name, value in attributes.items():
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            arrays[name], document[name] = value, {"array": name}
        elif isinstance(value, Tensor):
            arrays[name], document[name] = value.detach().numpy(), {"tensor": name}
        elif _is_state_dict(value):
            parts = {f"{name}/{part}": tensor.detach().numpy() for part, tensor in value.items()}
            arrays.update(parts)
            document[name] = {"tensors": list(value)}
        else:
            document[name] = {"json": _plain(name, value)}
    return State(arrays, document)


def unpack(state: State) -> dict[str, Any]:
    """The attributes :func:`pack` was given."""
    return {name: _value(name, how, state.arrays) for name, how in state.document.items()}


def write_model(directory: Path, header: dict[str, Any], state: State, card: str) -> None:
    """Save a model in a new directory, whole or not at all, with a card for people."""
    document = {"schema": SCHEMA, "kind": "model", **header, "state": state.document}
    write_bundle(directory, state.arrays, document, {"README.md": card})


def read_model(directory: Path) -> tuple[dict[str, Any], State]:
    """The header and the learned state of a saved model."""
    arrays, document = read_bundle(directory)
    if document.get("kind") != "model":
        raise CheckpointError(f"{directory} does not hold a model.")
    if document["schema"] > SCHEMA:
        raise CheckpointError(
            f"{directory} was saved by a newer nodegraft (schema {document['schema']}, this one "
            f"reads up to {SCHEMA}): upgrade nodegraft."
        )
    return document, State(arrays, document["state"])


def _is_state_dict(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and bool(value)
        and all(isinstance(tensor, Tensor) for tensor in value.values())
    )


def _plain(name: str, value: Any) -> Any:
    try:
        text = json.dumps(value)
    except TypeError:
        text = "null"
    if json.loads(text) != value:
        raise CheckpointError(
            f"Learned attribute {name!r} is a {type(value).__name__}: state is arrays, tensors, "
            "a dict of tensors, or plain JSON."
        )
    return value


def _value(name: str, how: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    if "array" in how:
        return arrays[name]
    if "tensor" in how:
        return torch.from_numpy(arrays[name])
    if "tensors" in how:
        return {part: torch.from_numpy(arrays[f"{name}/{part}"]) for part in how["tensors"]}
    return how["json"]
