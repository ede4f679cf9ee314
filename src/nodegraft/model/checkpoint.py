"""Conversion of a model's learned state to arrays and JSON, and storage of both in a directory."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import CheckpointError
from nodegraft.base.files.bundle import prefixed, read_bundle, under, write_bundle
from nodegraft.base.tensors import is_tensor
from nodegraft.graph.keyed_labels import KeyedLabels

if TYPE_CHECKING:
    from torch import Tensor

SCHEMA = 2

OTHERS = "Use the nodegraft that saved it, or fit it again."
"""Advice in errors about a model that was saved by another version of nodegraft."""

HEADER: Mapping[str, type | tuple[type, ...]] = {
    "method": str,
    "parameters": dict,
    "classes": list,
    "num_features": int,
    "text_keys": bool,
    "recipe": (dict, type(None)),
    "nodegraft": str,
}
"""Header fields of a saved model, with their types."""

_TYPES: Mapping[str, tuple[type, str]] = {
    "array": (np.ndarray, "a NumPy array of numbers"),
    "tensor": (object, "a tensor"),
    "tensors": (dict, "a dict of tensors"),
    "labels": (KeyedLabels, "labels by key"),
}


@dataclass(frozen=True)
class State:
    """Learned state of a model: named arrays, and JSON for everything else."""

    arrays: dict[str, NDArray[Any]]
    """Arrays by name."""

    document: dict[str, Any]
    """JSON that says how each attribute is saved, with the values of attributes without arrays."""

    @property
    def nbytes(self) -> int:
        """Size of the state in bytes."""
        return sum(array.nbytes for array in self.arrays.values()) + len(json.dumps(self.document))


@dataclass(frozen=True)
class SavedModel:
    """Content of a model directory: header, learned state, and feature recipe."""

    header: dict[str, Any]
    """Values of the fields in :data:`HEADER`."""

    state: State
    """Learned state of the model."""

    recipe: dict[str, NDArray[Any]]
    """Arrays of the feature recipe."""


def pack(attributes: Mapping[str, Any], kinds: Mapping[str, str]) -> State:
    """Convert attributes to arrays and JSON; raise an error if a value has an undeclared type.

    >>> import torch
    >>> kinds = {"means_": "tensor", "seen_": "json"}
    >>> state = pack({"means_": torch.zeros(2, 3), "seen_": 4}, kinds)
    >>> sorted(state.arrays), unpack(state, kinds)["seen_"]
    (['means_'], 4)

    Args:
        kinds: Attribute name -> storage kind (:func:`nodegraft.model.learned.learned_kinds`).
    """
    arrays: dict[str, NDArray[Any]] = {}
    for name, value in attributes.items():
        _check_type(name, value, kinds[name])
        arrays |= _arrays(name, value, kinds[name])
    return State(arrays, _document(attributes, kinds))


def kept_bytes(attributes: Mapping[str, Any], kinds: Mapping[str, str]) -> int:
    """Return the size of the packed attributes in bytes, without packing the labels.

    The result is equal to ``pack(attributes, kinds).nbytes``, but faster if there are many labels.
    """
    for name, value in attributes.items():
        _check_type(name, value, kinds[name])
    total = len(json.dumps(_document(attributes, kinds)))
    for name, value in attributes.items():
        if kinds[name] == "labels":
            total += value.nbytes + 8 * len(value)
        else:
            total += sum(array.nbytes for array in _arrays(name, value, kinds[name]).values())
    return total


def _arrays(name: str, value: Any, kind: str) -> dict[str, NDArray[Any]]:
    if kind == "array":
        return {name: value}
    if kind == "tensor":
        return {name: value.detach().numpy()}
    if kind == "tensors":
        return {f"{name}/{part}": item.detach().numpy() for part, item in value.items()}
    return prefixed(f"{name}/", value.to_arrays()) if kind == "labels" else {}


def _document(attributes: Mapping[str, Any], kinds: Mapping[str, str]) -> dict[str, Any]:
    document: dict[str, Any] = {name: {"kind": kinds[name]} for name in attributes}
    for name, entry in document.items():
        if kinds[name] == "tensors":
            entry["names"] = list(attributes[name])
        elif kinds[name] == "labels":
            entry["classes"] = list(attributes[name])
        elif kinds[name] == "json":
            entry["value"] = attributes[name]
    return document


def unpack(state: State, kinds: Mapping[str, str]) -> dict[str, Any]:
    """Convert the result of :func:`pack` back to attributes.

    Raise an error if the state belongs to another class.

    Args:
        kinds: Learned attribute of the class -> storage kind.
    """
    attributes, unread = {}, set(state.arrays)
    for name, entry in state.document.items():
        if name not in kinds or entry.get("kind") != kinds[name]:
            raise CheckpointError(
                f"The saved state has {name!r} ({entry.get('kind')}), which this method does not "
                f"have; it has {', '.join(f'{other} ({kind})' for other, kind in kinds.items())}. "
                f"{OTHERS}"
            )
        try:
            attributes[name], used = _value(name, entry, state.arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"The saved state of {name!r} is not whole: {error!r}."
            ) from error
        unread -= used
    if unread:
        raise CheckpointError(f"The saved state has unknown arrays, such as {sorted(unread)[0]!r}.")
    missing = kinds.keys() - attributes.keys()
    if missing:
        raise CheckpointError(f"The saved state lacks {', '.join(sorted(missing))}. {OTHERS}")
    return attributes


def write_model(
    directory: Path,
    header: Mapping[str, Any],
    state: State,
    card: str,
    recipe: Mapping[str, NDArray[Any]] | None = None,
) -> None:
    """Save a model and its model card in a new directory; the write is atomic."""
    write_bundle(directory, *pack_model(header, state, recipe), {"README.md": card})


def pack_model(
    header: Mapping[str, Any], state: State, recipe: Mapping[str, NDArray[Any]] | None = None
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Convert a model to arrays and JSON."""
    document = {"schema": SCHEMA, "kind": "model", **header, "state": state.document}
    return prefixed("state.", state.arrays) | prefixed("recipe.", recipe or {}), document


def read_model(directory: Path) -> SavedModel:
    """Read a saved model from a directory; raise an error if it is incomplete."""
    return unpack_model(*read_bundle(directory), str(directory))


def unpack_model(
    arrays: Mapping[str, NDArray[Any]], document: dict[str, Any], where: str
) -> SavedModel:
    """Like :func:`read_model`, but read from arrays and JSON."""
    document = dict(document)
    if document.pop("kind", None) != "model":
        raise CheckpointError(f"{where} does not hold a model.")
    schema = document.pop("schema", None)
    if schema != SCHEMA:
        raise CheckpointError(
            f"{where} was saved in format {schema!r}; this nodegraft reads {SCHEMA}. {OTHERS}"
        )
    state = document.pop("state", None)
    wrong = [name for name in (*HEADER, *document) if not _is_header(name, document)]
    is_state = isinstance(state, dict) and all(isinstance(entry, dict) for entry in state.values())
    if wrong or not is_state:
        raise CheckpointError(
            f"{where} does not hold a whole model: "
            f"{', '.join(map(repr, wrong)) or 'its state'} is missing, unknown or of a wrong type."
        )
    own = State(under("state.", arrays), state)
    odd = [name for name in arrays if not name.startswith(("state.", "recipe."))]
    if odd:
        raise CheckpointError(f"{where} has the unknown array {odd[0]!r}.")
    return SavedModel(document, own, under("recipe.", arrays))


def _is_header(name: str, document: Mapping[str, Any]) -> bool:
    if name not in HEADER or name not in document:
        return False
    value, kind = document[name], HEADER[name]
    return isinstance(value, kind) and (kind is not int or type(value) is int)


def _check_type(name: str, value: Any, kind: str) -> None:
    cls, described = _TYPES.get(kind, (object, "plain JSON"))
    fits = isinstance(value, cls)
    if kind == "array":
        fits = fits and value.dtype.kind in "biuf"
    elif kind == "tensor":
        fits = is_tensor(value)
    elif kind == "tensors":
        fits = fits and all(map(is_tensor, value.values()))
    elif kind == "json":
        fits = _is_plain(value)
    if not fits:
        raise CheckpointError(
            f"Learned attribute {name!r} is declared to be {described}, and is a "
            f"{type(value).__name__}."
        )


def _is_plain(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False


def _value(
    name: str, entry: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> tuple[Any, set[str]]:
    """Return the value of a saved attribute, and the names of the arrays from which it is read."""
    kind = entry["kind"]
    if kind == "array":
        return arrays[name], {name}
    if kind == "tensor":
        return _tensor(arrays[name]), {name}
    if kind == "tensors":
        parts = {part: f"{name}/{part}" for part in entry["names"]}
        tensors = {part: _tensor(arrays[place]) for part, place in parts.items()}
        return tensors, set(parts.values())
    if kind == "labels":
        own = under(f"{name}/", arrays)
        return KeyedLabels.from_arrays(entry["classes"], own), set(prefixed(f"{name}/", own))
    return entry["value"], set()


def _tensor(array: NDArray[Any]) -> "Tensor":
    import torch  # This import takes seconds, and models in closed form have no tensors.

    return torch.from_numpy(array)
