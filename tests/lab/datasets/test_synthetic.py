from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.graph.edges.matrix import is_sparse
from nodegraft.lab.datasets.synthetic import Synthetic
from nodegraft.lab.datasets.templates.dataset import LoadedDataset, setting_for
from nodegraft.streams.split import ClassSplit


def columns(loaded: LoadedDataset) -> "np.ndarray[Any, np.dtype[np.int64]]":
    column = np.empty(loaded.graph.num_nodes, dtype=np.int64)
    column[loaded.labels.rows()] = loaded.labels.targets(loaded.labels.classes)
    return column


@pytest.mark.parametrize("sparse", [False, True])
def test_the_seed_decides_everything(sparse: bool) -> None:
    first, second = (Synthetic(nodes=300, classes=8, sparse=sparse).load() for _ in range(2))
    other = Synthetic(nodes=300, classes=8, sparse=sparse, seed=1).load()
    assert first.content_hash == second.content_hash != other.content_hash


@pytest.mark.parametrize("homophily", [0.0, 0.3, 0.8, 1.0])
def test_edges_keep_to_their_class_as_asked(homophily: float) -> None:
    loaded = Synthetic(nodes=10_003, classes=7, homophily=homophily, degree=6.0).load()
    source, target = loaded.graph.edges()
    column = columns(loaded)
    assert (column[source] == column[target]).mean() == pytest.approx(homophily, abs=0.015)
    assert 2 * loaded.graph.num_edges / 10_003 == pytest.approx(6.0, rel=0.01)


def test_classes_are_of_equal_size_and_rows_do_not_tell_them() -> None:
    loaded = Synthetic(nodes=1003, classes=5).load()
    assert [rows.size for rows in loaded.labels.values()] == [201, 201, 201, 200, 200]
    assert not (columns(loaded) == np.arange(1003) % 5).all()


def test_class_means_are_as_far_apart_as_asked() -> None:
    loaded = Synthetic(nodes=40_000, classes=4, features=128, signal=5.0).load()
    means = [
        np.asarray(loaded.graph.features(rows)).mean(axis=0) for rows in loaded.labels.values()
    ]
    apart = [np.linalg.norm(means[a] - means[b]) for a in range(4) for b in range(a)]
    assert np.mean(apart) == pytest.approx(5.0, rel=0.1)


def test_sparse_features_are_counts_that_tell_the_class() -> None:
    loaded = Synthetic(nodes=2000, classes=4, features=100, sparse=True, words=10).load()
    counts = loaded.graph.features(np.arange(2000))
    assert is_sparse(counts)
    rows = counts.toarray()
    assert (rows.sum(axis=1) == 10).all()
    column = columns(loaded)
    means = np.stack([rows[column == name].mean(axis=0) for name in range(4)])
    nearest = ((rows[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == column).mean() > 0.9


@pytest.mark.parametrize("classes", range(4, 60))
def test_a_setting_uses_every_class(classes: int) -> None:
    setting = setting_for(classes)
    assert setting.classes == classes
    assert min(setting.base, setting.pseudo_novel, setting.validation, setting.novel) >= 1
    assert setting.ways <= setting.novel


def test_a_small_one_can_be_split() -> None:
    loaded = Synthetic(nodes=300, classes=8).load()
    split = ClassSplit.draw(loaded.labels, loaded.setting, seed=0)
    assert len(split.novel) == 3


def test_nothing_is_read_or_cached(tmp_path: Path) -> None:
    Synthetic(nodes=50, classes=4).load(tmp_path / "no data", tmp_path / "no cache")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classes": 3}, "classes must be from 4"),
        ({"nodes": 10}, r"classes must be from 4 to nodes \(10\): 20"),
        ({"homophily": 1.5}, "homophily must be a number at least 0 and at most 1, not 1.5"),
        ({"degree": -1.0}, "degree"),
        ({"features": 0}, "features"),
    ],
)
def test_values_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Synthetic(**options).load()
