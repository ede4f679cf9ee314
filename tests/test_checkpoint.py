from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nodegraft.base.bundle import write_bundle
from nodegraft.base.errors import CheckpointError
from nodegraft.checkpoint import SCHEMA, State, pack, read_model, unpack, write_model

EVERYTHING: dict[str, Any] = {
    "array_": np.arange(6, dtype=np.int16).reshape(2, 3),
    "half_": np.array([1.5], dtype=np.float16),
    "number_": np.array(2.5),
    "tensor_": torch.arange(4.0).reshape(2, 2).T,
    "scalar_": torch.tensor(7),
    "trained_": torch.ones(2, requires_grad=True),
    "module_": {"weights.0": torch.eye(2), "bias": torch.zeros(0)},
    "names_": ["é", ""],
    "nested_": {"a": [1, 2.5, None, True], "b": {}},
    "nothing_": None,
    "empty_": {},
}


def check_same(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray | torch.Tensor):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert np.array_equal(found, expected.detach() if torch.is_tensor(expected) else expected)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for name, value in expected.items():
            check_same(found[name], value)
    else:
        assert found == expected


def test_every_kind_of_state_comes_back() -> None:
    check_same(unpack(pack(EVERYTHING)), EVERYTHING)


def test_every_kind_of_state_comes_back_from_disk(tmp_path: Path) -> None:
    write_model(tmp_path / "model", {"method": "m"}, pack(EVERYTHING), "# é\n")
    header, state = read_model(tmp_path / "model")
    check_same(unpack(state), EVERYTHING)
    assert header["method"] == "m"
    assert header["schema"] == SCHEMA
    assert (tmp_path / "model" / "README.md").read_text(encoding="utf-8") == "# é\n"


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {1, 2},
        (1, 2),
        {1: "a"},
        np.float32(1),
        float("nan"),
        b"bytes",
        [np.ones(2)],
        {"a": torch.ones(1), "b": 1},
        np.array(["text"]),
        np.array([object()]),
        lambda: None,
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_objects_are_refused_by_name(value: Any) -> None:
    with pytest.raises(CheckpointError, match=f"'odd_' is a {type(value).__name__}: state is"):
        pack({"fine_": 1, "odd_": value})


def test_bytes_are_those_of_arrays_and_json() -> None:
    assert State({"a": np.zeros(4, dtype=np.float32)}, {"b": 1}).nbytes == 16 + len('{"b": 1}')
    assert pack({"a_": torch.zeros(1000)}).nbytes - pack({"a_": torch.zeros(10)}).nbytes == 3960


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"kind": "model", "schema": SCHEMA + 1, "state": {}}, "newer nodegraft .* upgrade"),
        ({"kind": "graph", "schema": SCHEMA}, "does not hold a model"),
        ({}, "does not hold a model"),
    ],
)
def test_what_this_version_cannot_read_is_refused(
    document: dict[str, Any], message: str, tmp_path: Path
) -> None:
    write_bundle(tmp_path / "model", {}, document)
    with pytest.raises(CheckpointError, match=message):
        read_model(tmp_path / "model")
