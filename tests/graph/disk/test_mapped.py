import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodegraft.base.errors import CheckpointError, DamagedFileError, DataError
from nodegraft.base.files import array_file
from nodegraft.base.files.array_file import StoredArray
from nodegraft.graph.disk.mapped import MANIFEST, Manifest, MappedStore
from nodegraft.graph.graph import Graph
from nodegraft.tables.disk.build import build_graph
from nodegraft.tables.storage import load_graph
from tests.tables.disk.tables import write_tables


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tables = write_tables(tmp_path, "text")
    build_graph(*tables, tmp_path / "graph", text="text", edge_weight="times")
    return tmp_path / "graph"


def change(folder: Path, *path: Any, value: Any) -> None:
    document = json.loads((folder / MANIFEST).read_text())
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    (folder / MANIFEST).write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("kind",), "graph"),
        (("schema",), 2),
        (("nodes",), 299),
        (("nodes",), -1),
        (("nodes",), True),
        (("features",), 10**12),
        (("relations",), []),
        (("relations",), ["edges", "more"]),
        (("relations",), [["edges"]]),
        (("recipe",), "0" * 32),
        (("more",), 1),
        (("arrays", "keys.hashes", "dtype"), "<i8"),
        (("arrays", "keys.hashes", "dtype"), "|O"),
        (("arrays", "keys.hashes", "dtype"), 7),
        (("arrays", "edges.0.weights", "dtype"), "<f8"),
        (("arrays", "edges.0.indptr", "shape"), [300]),
        (("arrays", "edges.0.indptr", "shape"), [2**62]),
        (("arrays", "edges.0.indptr", "shape"), [-1]),
        (("arrays", "edges.0.indptr", "shape"), 301),
        (("arrays", "edges.0.indptr"), None),
        (("arrays", "../../secret.x"), {"dtype": "<i4", "shape": [1], "digest": ""}),
        (("arrays",), {}),
    ],
)
def test_hostile_manifests_are_refused(folder: Path, path: Any, value: Any) -> None:
    change(folder, *path, value=value)
    with pytest.raises(CheckpointError):
        load_graph(folder)


def test_what_is_no_json_is_refused(folder: Path) -> None:
    (folder / MANIFEST).write_text("[1, 2")
    with pytest.raises(CheckpointError, match="describes no graph"):
        load_graph(folder)


def test_files_that_are_cut_or_gone_are_refused(folder: Path) -> None:
    file = folder / "edges.0.indices.npy"
    os.truncate(file, file.stat().st_size - 4)
    with pytest.raises(CheckpointError, match="too short or too long"):
        load_graph(folder)
    file.unlink()
    with pytest.raises(CheckpointError, match="is missing"):
        load_graph(folder)


def flip(file: Path, place: int, bit: int = 1) -> None:
    content = bytearray(file.read_bytes())
    content[place] ^= bit
    file.chmod(0o644)
    file.write_bytes(content)


def read_some(graph: Graph, name: str, known: list[Any]) -> None:
    """Ask for the first nodes only."""
    if "keys" in name:
        graph.rows_of(known)
    elif "features" in name:
        graph.features(graph.rows[:20])
    else:
        graph.neighbours(graph.rows[:20])


@pytest.mark.parametrize(
    "name",
    ["features.indptr", "features.indices", "edges.0.indptr", "edges.0.indices", "keys.bounds"],
)
def test_numbers_out_of_range_are_refused_when_they_are_read(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(array_file, "CHECKED_BYTES", 0)
    known = load_graph(folder).keys_of(range(20))
    width = 8 if name == "keys.bounds" else 4
    file = folder / f"{name}.npy"
    for byte, bit in ((width - 1, 0x80), (width - 2, 0x40)):
        # The tenth number: neither the first nor the last offset.
        flip(file, 128 + 10 * width + byte, bit)
        graph = load_graph(folder)
        with pytest.raises(DamagedFileError, match=rf"{name}\.npy"):
            graph.keys_of(graph.rows) if "keys" in name else graph.propagated(graph.rows, 2)
        with pytest.raises(DamagedFileError, match=rf"{name}\.npy"):
            read_some(graph, name, known)
        flip(file, 128 + 10 * width + byte, bit)


@pytest.mark.parametrize("name", ["features.data", "edges.0.indices", "keys.letters"])
def test_damage_is_found_when_it_is_looked_for(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flip(folder / f"{name}.npy", -20)
    with pytest.raises(DamagedFileError, match=rf"{name}\.npy is damaged: its checksum"):
        load_graph(folder)
    # As if the array were larger than what is compared on first use.
    monkeypatch.setattr(array_file, "CHECKED_BYTES", 0)
    load_graph(folder)
    with pytest.raises(CheckpointError, match=rf"{name}\.npy is damaged"):
        load_graph(folder, verify=True)


def test_kinds_that_are_not_there_are_told(folder: Path) -> None:
    graph = load_graph(folder)
    with pytest.raises(DataError, match="no edge type 'cites'; there are edges"):
        graph.neighbours([0], "cites")
    assert graph._store.layers_folder == folder / "propagated"
    assert Graph(["a"], np.ones((1, 1)))._store.layers_folder is None


def test_opening_reads_no_array(tmp_path: Path) -> None:
    nodes, entries = 10**9, 10**10
    arrays = {
        "keys.integers": ("<i8", (nodes,)),
        "keys.hashes": ("<u8", (nodes,)),
        "keys.rows": ("<i4", (nodes,)),
        "features.dense": ("<f2", (nodes, 64)),
        "edges.0.indptr": ("<i8", (nodes + 1,)),
        "edges.0.indices": ("<i8", (entries,)),
    }
    for name, (dtype, shape) in arrays.items():
        # Files of terabytes, none of which is on the disk.
        with (tmp_path / f"{name}.npy").open("wb") as file:
            header = {"descr": dtype, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
            file.truncate(file.tell() + size)
            if name.endswith("indptr"):
                # The last offset is one of the few numbers that opening looks at.
                file.seek(-8, os.SEEK_END)
                file.write(entries.to_bytes(8, "little"))
    stored = {name: StoredArray(dtype, shape, "") for name, (dtype, shape) in arrays.items()}
    Manifest(nodes, 64, ("edges",), None, stored).write(tmp_path)
    graph = load_graph(tmp_path)
    assert (graph.num_nodes, graph.num_edges) == (nodes, entries // 2)
    assert isinstance(graph.identity, MappedStore)
    assert graph.features([nodes - 1]).tolist() == [[0.0] * 64]
    assert graph.degrees([5, nodes - 1]).tolist() == [0, entries]
    assert graph.keys_of([3]) == [0]
