"""Public benchmarks whose nodes are numbers: tiny files in the format that their publishers use."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from nodegraft.base.errors import DataError, MissingFileError
from nodegraft.lab.datasets.templates.dataset import load_dataset

# torch 2.13 says so whenever PyG 2.8 is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")

CLASSES = np.repeat(np.arange(5), 20)
"""Class of each of 100 nodes: five classes of 20."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODEGRAFT_CACHE", str(tmp_path / "cache"))


def write_ogb(folder: Path, mapping: str, names: list[str], classes: np.ndarray = CLASSES) -> None:
    texts = {
        "raw/edge.csv.gz": "0,1\n1,0\n1,2\n",
        "raw/node-feat.csv.gz": "".join(f"{node}.5,-1\n" for node in range(100)),
        "raw/node-label.csv.gz": "".join(f"{number}\n" for number in classes),
        mapping: "label idx,name\n" + "".join(f"{i},{name}\n" for i, name in enumerate(names)),
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(gzip.compress(text.encode()))


def test_ogbn_arxiv_is_read_from_its_archive(tmp_path: Path) -> None:
    names = [f"arxiv cs {letter}" for letter in "edcba"]
    write_ogb(tmp_path / "arxiv", "mapping/labelidx2arxivcategeory.csv.gz", names)
    loaded = load_dataset("ogbn-arxiv", tmp_path)
    assert loaded.labels.classes == tuple(sorted(names))
    assert loaded.labels["arxiv cs e"].tolist() == list(range(20))
    assert np.stack(loaded.graph.edges(), axis=1).tolist() == [[0, 1], [1, 2]]
    assert loaded.graph.features([0, 99]).tolist() == [[0.5, -1], [99.5, -1]]
    assert loaded.setting.classes == 5


def test_classes_of_ogbn_products_without_a_name_of_their_own_are_numbered(tmp_path: Path) -> None:
    mapping = "mapping/labelidx2productcategory.csv.gz"
    names = ["Toys", "Office", "Office", "", "Books"]
    classes = np.where(np.arange(100) < 99, CLASSES, 3)
    write_ogb(tmp_path / "ogbn-products", mapping, names, classes)
    loaded = load_dataset("ogbn-products", tmp_path)
    # Books has 19 nodes: too few.
    assert loaded.labels.classes == ("Toys", "class-01", "class-02", "class-03")
    assert loaded.notes == ("1 classes with under 20 nodes are left out.",)


def test_files_of_different_archives_are_refused(tmp_path: Path) -> None:
    mapping = "mapping/labelidx2arxivcategeory.csv.gz"
    write_ogb(tmp_path / "arxiv", mapping, list("abcde"), CLASSES[:99])
    with pytest.raises(DataError, match="100 rows of features and 99 labels"):
        load_dataset("ogbn-arxiv", tmp_path)


@pytest.mark.filterwarnings("ignore:n_quantiles .1000. is greater")
def test_graphland_is_read_through_pyg(tmp_path: Path) -> None:
    folder = tmp_path / "hm-categories" / "raw" / "hm-categories"
    folder.mkdir(parents=True)
    (folder / "info.yaml").write_text(
        "task: multiclass_classification\nnumerical_features_names: [age, share]\n"
        "fraction_features_names: [share]\ncategorical_features_names: [colour]\n"
        "target_name: kind\n"
    )
    rows = "".join(f"{node},{node},0.25,{node % 3}\n" for node in range(100))
    (folder / "features.csv").write_text("id,age,share,colour\n" + rows)
    targets = [f"{node},{number}\n" for node, number in enumerate(CLASSES)]
    targets[0] = "0,\n"
    (folder / "targets.csv").write_text("id,kind\n" + "".join(targets))
    masks = "".join(f"{node},True,False,False\n" for node in range(100))
    (folder / "split_masks_RL.csv").write_text("id,train,val,test\n" + masks)
    (folder / "edgelist.csv").write_text("source,target\n0,1\n2,1\n1,2\n")

    loaded = load_dataset("hm-categories", tmp_path)
    assert loaded.graph.features([1]).shape == (1, 5)
    assert np.stack(loaded.graph.edges(), axis=1).tolist() == [[0, 1], [1, 2]]
    # Node 0 has no class, so that class 0 has 19 nodes: too few.
    assert loaded.labels.classes == ("class-01", "class-02", "class-03", "class-04")
    assert [note.split(" ")[0] for note in loaded.notes] == ["Missing", "1"]


def test_wiki_cs_is_read_through_pyg(tmp_path: Path) -> None:
    folder = tmp_path / "wiki-cs" / "raw"
    folder.mkdir(parents=True)
    masks = [[True] for _ in CLASSES]
    document = {
        "features": [[float(node), 1.0] for node in range(100)],
        "labels": CLASSES.tolist(),
        "links": [[1], [2], *([] for _ in range(98))],
        "train_masks": masks,
        "val_masks": masks,
        "stopping_masks": masks,
        "test_mask": [True for _ in CLASSES],
    }
    (folder / "data.json").write_text(json.dumps(document))
    loaded = load_dataset("wiki-cs", tmp_path)
    assert np.stack(loaded.graph.edges(), axis=1).tolist() == [[0, 1], [1, 2]]
    assert loaded.graph.features([7]).tolist() == [[7, 1]]
    assert len(loaded.labels) == loaded.setting.classes == 5


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("ogbn-arxiv", "unpack https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip"),
        ("hm-categories", "GraphLandDataset as G; G('.', 'hm-categories', 'RL')"),
        ("pokec-regions", "GraphLandDataset as G; G('.', 'pokec-regions', 'RL')"),
        ("web-topics", "GraphLandDataset as G; G('.', 'web-topics', 'RL')"),
    ],
)
def test_the_error_says_where_missing_files_come_from(
    tmp_path: Path, name: str, source: str
) -> None:
    with pytest.raises(MissingFileError) as caught:
        load_dataset(name, tmp_path)
    assert "To get them, in the data folder: " in str(caught.value)
    assert source in str(caught.value)
