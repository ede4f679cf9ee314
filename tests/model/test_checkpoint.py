import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nodegraft.base.errors import CheckpointError
from nodegraft.base.files.bundle import ARRAYS, DOCUMENT, read_bundle, write_bundle
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.methods.graft import Graft
from nodegraft.methods.proto_gcn import ProtoGCN
from nodegraft.methods.sgc_mean import SGCMean
from nodegraft.methods.teen import TEEN
from nodegraft.model.checkpoint import SCHEMA, State, pack, read_model, unpack, write_model
from nodegraft.model.registry import load_model
from tests.graph.reference import random_graph

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
    "numbered_": KeyedLabels({"a": np.array([3, -1]), "none": np.zeros(0, dtype=np.int64)}),
    "named_": KeyedLabels({"é": np.array(["x", "", "日"], dtype=object)}),
    "nobody_": KeyedLabels({}),
}

HEADER: dict[str, Any] = {
    "method": "sgc-mean",
    "parameters": {},
    "classes": [],
    "num_features": 3,
    "text_keys": True,
    "recipe": None,
    "nodegraft": "1",
}


def kinds_of(state: dict[str, Any]) -> dict[str, str]:
    """How each attribute would be declared."""
    return {name: _kind(value) for name, value in state.items()}


def _kind(value: Any) -> str:
    if isinstance(value, KeyedLabels):
        return "labels"
    if isinstance(value, np.ndarray):
        return "array"
    if isinstance(value, torch.Tensor):
        return "tensor"
    modules = isinstance(value, dict) and value and all(map(torch.is_tensor, value.values()))
    return "tensors" if modules else "json"


def check_same(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray | torch.Tensor):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert np.array_equal(found, expected.detach() if torch.is_tensor(expected) else expected)
    elif isinstance(expected, KeyedLabels):
        assert {name: keys.tolist() for name, keys in found.items()} == {
            name: keys.tolist() for name, keys in expected.items()
        }
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for name, value in expected.items():
            check_same(found[name], value)
    else:
        assert found == expected


def test_every_kind_of_state_comes_back() -> None:
    kinds = kinds_of(EVERYTHING)
    assert set(kinds.values()) == {"array", "tensor", "tensors", "labels", "json"}
    check_same(unpack(pack(EVERYTHING, kinds), kinds), EVERYTHING)


def test_every_kind_of_state_comes_back_from_disk(tmp_path: Path) -> None:
    kinds = kinds_of(EVERYTHING)
    write_model(tmp_path / "model", HEADER, pack(EVERYTHING, kinds), "# é\n")
    saved = read_model(tmp_path / "model")
    check_same(unpack(saved.state, kinds), EVERYTHING)
    assert saved.header == HEADER
    assert (tmp_path / "model" / "README.md").read_text(encoding="utf-8") == "# é\n"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("json", object()),
        ("json", {1, 2}),
        ("json", (1, 2)),
        ("json", {1: "a"}),
        ("json", float("nan")),
        ("json", b"bytes"),
        ("json", [np.ones(2)]),
        ("array", np.float32(1)),
        ("array", torch.ones(1)),
        ("array", np.array(["text"])),
        ("array", np.array([object()])),
        ("tensor", np.ones(1)),
        ("tensors", {"a": torch.ones(1), "b": 1}),
        ("labels", {"a": [1]}),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_not_as_declared_is_refused_by_name(kind: str, value: Any) -> None:
    with pytest.raises(CheckpointError, match=f"'odd_' is declared .* is a {type(value).__name__}"):
        pack({"fine_": 1, "odd_": value}, {"fine_": "json", "odd_": kind})


def test_bytes_are_those_of_arrays_and_json() -> None:
    assert State({"a": np.zeros(4, dtype=np.float32)}, {"b": 1}).nbytes == 16 + len('{"b": 1}')
    sizes = [pack({"a_": torch.zeros(count)}, {"a_": "tensor"}).nbytes for count in (1000, 10)]
    assert sizes[0] - sizes[1] == 3960


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"kind": "model", "schema": SCHEMA + 1, "state": {}}, "this nodegraft reads"),
        ({"kind": "model", "state": {}}, "this nodegraft reads"),
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


def saved(folder: Path) -> Path:
    SGCMean().fit(random_graph(), {"a": [0, 1], "b": [2]}).save(folder / "model")
    return folder / "model"


Change = Callable[[dict[str, Any], dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays, document: document["classes"].reverse(), "labels are not those"),
        (lambda arrays, document: document["classes"][0].update(labels=7), "labels are not those"),
        (lambda arrays, document: document["classes"][0].update(name="b"), "name twice"),
        (lambda arrays, document: document.pop("classes"), "'classes' is missing"),
        (lambda arrays, document: document.update(num_features="7"), "'num_features' is missing"),
        (lambda arrays, document: document.update(num_features=True), "'num_features' is missing"),
        (lambda arrays, document: document.update(more=1), "'more' is missing, unknown"),
        (lambda arrays, document: document["parameters"].update(hop=1), "no parameter 'hop'"),
        (lambda arrays, document: document["parameters"].update(hops=-1), "hops must be"),
        (lambda arrays, document: document.update(method="proto-gcn"), "no parameter 'hops'"),
        (lambda arrays, document: document.update(method="nobody"), "no method named 'nobody'"),
        (
            lambda arrays, document: document["state"].update(
                predict={"kind": "json", "value": "x"}
            ),
            "has 'predict'",
        ),
        (
            lambda arrays, document: document["state"].update(
                extra_={"kind": "json", "value": "x"}
            ),
            "has 'extra_'",
        ),
        (
            lambda arrays, document: document["state"]["centre_"].update(kind="json", value=1),
            r"has 'centre_' \(json\)",
        ),
        (lambda arrays, document: document["state"].update(centre_=3), "its state"),
        (lambda arrays, document: arrays.pop("state.centre_"), "'centre_' is not whole"),
        (lambda arrays, document: arrays.update({"state.x": np.ones(1)}), "unknown arrays"),
    ],
)
def test_a_folder_somebody_rewrote_is_refused(change: Change, message: str, tmp_path: Path) -> None:
    """With a checksum that fits: not damage, but something that is no model of this method."""
    arrays, document = read_bundle(saved(tmp_path))
    change(arrays, document)
    write_bundle(tmp_path / "other", arrays, document)
    with pytest.raises((CheckpointError, Exception), match=message) as caught:
        load_model(tmp_path / "other")
    assert type(caught.value).__module__ == "nodegraft.base.errors"


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace('"a"', '"c"'),
        lambda text: text.replace('"hops": 2', '"hops": 1'),
        lambda text: text.replace('"session": 0', '"session": 1', 1),
    ],
)
def test_an_edited_document_is_damage(edit: Callable[[str], str], tmp_path: Path) -> None:
    """Class names could be swapped without a word while only the arrays were under the checksum."""
    file = saved(tmp_path) / DOCUMENT
    text = file.read_text()
    assert edit(text) != text
    file.write_text(edit(text))
    with pytest.raises(CheckpointError, match="damaged"):
        load_model(tmp_path / "model")


def test_a_model_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, reads = saved(tmp_path), list[Path]()

    def counted(directory: Path) -> Any:
        reads.append(directory)
        return read_bundle(directory)

    monkeypatch.setattr("nodegraft.model.checkpoint.read_bundle", counted)
    load_model(place)
    SGCMean.load(place)
    assert reads == [place, place]


def test_another_method_refuses_it(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="holds a sgc-mean model, not proto-gcn"):
        ProtoGCN.load(saved(tmp_path))


def test_json_of_a_model_is_readable(tmp_path: Path) -> None:
    document = json.loads((saved(tmp_path) / DOCUMENT).read_text())
    assert document["classes"][0] == {"name": "a", "session": 0, "labels": 2}
    assert (tmp_path / "model" / ARRAYS).exists()


def forged(place: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Path:
    """A saved model that was changed by somebody who knows how checksums are made."""
    arrays, document = read_bundle(place)
    change(arrays, document)
    write_bundle(place.parent / "forged", arrays, document)
    return place.parent / "forged"


def _wide_background(arrays: dict[str, Any], document: dict[str, Any]) -> None:
    arrays["state.background_"] = np.zeros((3, 2**10))


def _without_weights(arrays: dict[str, Any], document: dict[str, Any]) -> None:
    del arrays["state.weights_"], document["state"]["weights_"]


def _short_weights(arrays: dict[str, Any], document: dict[str, Any]) -> None:
    arrays["state.weights_"] = arrays["state.weights_"][:1]


def _planted(arrays: dict[str, Any], document: dict[str, Any]) -> None:
    arrays["evil"] = np.zeros(1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_wide_background, "does not fit together"),
        (_without_weights, "lacks weights_"),
        (_short_weights, "does not fit together"),
        (_planted, "unknown array 'evil'"),
    ],
)
def test_arrays_that_would_be_read_beyond_their_end_are_refused(
    tmp_path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None], message: str
) -> None:
    graph = random_graph()
    keys = graph.keys_of(graph.rows)
    Graft().fit(graph, {"a": keys[:4], "b": keys[4:8]}).save(tmp_path / "model")
    with pytest.raises(CheckpointError, match=message):
        load_model(forged(tmp_path / "model", change))


def test_plain_values_are_held_to_their_annotation(tmp_path: Path) -> None:
    graph = random_graph()
    keys = graph.keys_of(graph.rows)
    TEEN(max_epochs=2).fit(graph, {"a": keys[:4], "b": keys[4:8]}).save(tmp_path / "model")

    def wrong(arrays: dict[str, Any], document: dict[str, Any]) -> None:
        document["state"]["base_"]["value"] = "x"

    with pytest.raises(CheckpointError, match="base_ must be a whole number"):
        load_model(forged(tmp_path / "model", wrong))
