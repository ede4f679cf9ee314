from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_matrix, save_npz

from nodegraft.lab.datasets.reddit import Reddit

# torch 2.13 says so whenever PyG 2.8 is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")

FEATURES = np.arange(12, dtype=np.float64).reshape(4, 3)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "reddit"
    folder.mkdir()
    np.savez(
        folder / "reddit_data.npz",
        feature=FEATURES,
        label=np.array([2, 0, 2, 10]),
        node_types=np.array([1, 2, 3, 1]),
    )
    ends = (np.array([0, 1, 1, 3]), np.array([1, 0, 2, 1]))
    save_npz(folder / "reddit_graph.npz", coo_matrix((np.ones(4), ends), shape=(4, 4)))
    return tmp_path


def test_raw_files_are_read_through_pyg(root: Path) -> None:
    loaded = Reddit().load(root)
    assert loaded.graph.features(np.arange(4)).tolist() == FEATURES.tolist()
    assert np.stack(loaded.graph.edges(), axis=1).tolist() == [[0, 1], [1, 2], [1, 3]]
    assert {name: rows.tolist() for name, rows in loaded.labels.items()} == {
        "class-00": [1],
        "class-02": [0, 2],
        "class-10": [3],
    }
    assert str(loaded.setting).startswith("11/8/2/20 classes")


def test_nothing_is_written_beside_the_raw_files(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = sorted(root.rglob("*"))
    Reddit().parse(Reddit().locate(root))
    assert sorted(root.rglob("*")) == before
    assert capfd.readouterr() == ("", "")


def test_the_folder_pyg_made_will_do(root: Path) -> None:
    (root / "reddit").rename(root / "raw")
    (root / "Reddit").mkdir()
    (root / "raw").rename(root / "Reddit" / "raw")
    assert Reddit().load(root).graph.num_nodes == 4
