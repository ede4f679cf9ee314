from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_array

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.matrix import is_sparse
from nodegraft.graph.keys import Key
from nodegraft.lab.datasets.dblp import Dblp
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.lab.datasets.templates.matlab import MatlabNodes

# Ids are not sorted, 3 is in no half, and an edge is listed in both directions.
TEST, TRAIN = [4, 0, 2], [5, 1]
NETWORK = "0\t2\n2\t0\n1\t5\n3\t4\n4\t4\n1\t2\n"


def write_half(path: Path, ids: list[int], classes: list[int]) -> None:
    counts = csc_array(np.outer(ids, [1.0, 0.0, 2.0]))
    fields = {"Index": [ids], "Label": np.array([classes], dtype=float).T, "Attributes": counts}
    savemat(path, fields)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "dblp"
    folder.mkdir()
    (folder / "dblp_network").write_text(NETWORK)
    write_half(folder / "dblp_test.mat", TEST, [7, 12, 7])
    return folder


def load(folder: Path) -> LoadedDataset:
    return Dblp().load(folder.parent, folder.parent / "cache")


def edges(loaded: LoadedDataset) -> list[list[Key]]:
    return [loaded.graph.keys_of(pair) for pair in zip(*loaded.graph.edges(), strict=True)]


def test_both_halves(folder: Path) -> None:
    write_half(folder / "dblp_train.mat", TRAIN, [3, 3])
    loaded = load(folder)
    assert loaded.graph.keys_of(range(5)) == [0, 1, 2, 4, 5]
    assert edges(loaded) == [[0, 2], [1, 2], [1, 5]]
    assert {name: loaded.graph.keys_of(rows) for name, rows in loaded.labels.items()} == {
        "class-03": [1, 5],
        "class-07": [2, 4],
        "class-12": [0],
    }
    assert loaded.setting == Dblp.full_setting
    assert "37/50/50" in loaded.notes[0]


def test_the_test_half_alone_says_so(folder: Path) -> None:
    loaded = load(folder)
    assert loaded.graph.keys_of(range(3)) == [0, 2, 4]
    assert edges(loaded) == [[0, 2]]
    assert loaded.setting == Dblp.public_setting
    assert "2 of 137 classes: dblp_train.mat is absent" in loaded.notes[0]
    assert loaded.notes[1].startswith("3 nodes with neither attributes nor label")


def test_counts_stay_with_their_node_as_rows_of_length_one(folder: Path) -> None:
    graph = load(folder).graph
    rows = graph.features(graph.rows_of([4, 2]))
    assert is_sparse(rows)
    # (4, 0, 8) and (2, 0, 4) both point along (1, 0, 2), of length the root of 5
    assert rows.toarray() == pytest.approx(np.array([[1, 0, 2], [1, 0, 2]]) / np.sqrt(5))


def test_a_node_in_both_halves_is_refused(folder: Path) -> None:
    write_half(folder / "dblp_train.mat", [2, 1], [3, 3])
    with pytest.raises(DataError, match="more than once: 2"):
        load(folder)


def test_halves_with_other_attributes_are_refused(folder: Path) -> None:
    savemat(
        folder / "dblp_train.mat", {"Index": [[1]], "Label": [[3]], "Attributes": np.ones((1, 9))}
    )
    with pytest.raises(DataError, match="9 and 3 attributes"):
        load(folder)


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pointer.mat"
    path.write_text("version https://git-lfs.github.com/spec/v1\n" * 20)
    with pytest.raises(DataError, match=r"pointer\.mat is not a MATLAB v5 file"):
        MatlabNodes.read(path)


def test_a_file_without_labels_is_named(tmp_path: Path) -> None:
    savemat(tmp_path / "bare.mat", {"Index": [[1]]})
    with pytest.raises(DataError, match=r"bare\.mat is not .*'Label'"):
        MatlabNodes.read(tmp_path / "bare.mat")


def test_unequal_lengths_are_counted(tmp_path: Path) -> None:
    write_half(tmp_path / "half.mat", [1, 2], [3])
    with pytest.raises(DataError, match="2 ids, 1 labels and 2 rows"):
        MatlabNodes.read(tmp_path / "half.mat")
