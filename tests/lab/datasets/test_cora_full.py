from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.graph.edges.matrix import is_sparse
from nodegraft.lab.datasets.cora_full import CoraFull

# torch 2.13 says so whenever PyG 2.8 is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")


def test_raw_file_is_read_through_pyg(tmp_path: Path) -> None:
    (tmp_path / "cora-full").mkdir()
    words = csr_array(np.array([[3.0, 0.0], [0.0, 1.0], [0.0, 0.0]], dtype=np.float32))
    links = csr_array(np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]))
    parts = {
        f"{kind}_{part}": getattr(matrix, part)
        for kind, matrix in (("attr", words), ("adj", links))
        for part in ("data", "indices", "indptr", "shape")
    }
    labels = np.array([69, 1, 1])
    np.savez(tmp_path / "cora-full" / "cora.npz", allow_pickle=False, labels=labels, **parts)

    loaded = CoraFull().load(tmp_path)
    rows = loaded.graph.features([0, 1, 2])
    assert is_sparse(rows)
    assert rows.toarray().tolist() == [[1, 0], [0, 1], [0, 0]]
    assert np.stack(loaded.graph.edges(), axis=1).tolist() == [[0, 1], [1, 2]]
    assert loaded.labels.classes == ("class-01", "class-69")
    assert loaded.setting.classes == 70
    assert [path.name for path in (tmp_path / "cora-full").iterdir()] == ["cora.npz"]
