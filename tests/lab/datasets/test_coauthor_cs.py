from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.graph.statistics import describe
from nodegraft.lab.datasets.coauthor_cs import (
    ATTRIBUTES,
    EDGES,
    LABELS,
    TERMS,
    CoauthorCS,
    read_edges,
)
from tests.lab.datasets.readme_numbers import class_quartiles

Write = Callable[[Path, str], Path]


@pytest.fixture
def root(tmp_path: Path, write_xz: Write) -> Path:
    folder = tmp_path / "coauthor-cs"
    # The labels are not in the order of the attributes' lines.
    write_xz(folder / LABELS, "2\t1\n0\t0\n1\t1\n")
    write_xz(folder / ATTRIBUTES, "0:1\n1:3 2:3\n0:1 2:20\n")
    write_xz(folder / TERMS, "graph\n2 dimensional\nquery\n")
    write_xz(folder / EDGES, "0\t2\n1\t2\n")
    (folder / "classes.tsv").write_text("0\tdata_mining\t1\n1\tNLP\t2\n")
    return tmp_path


def test_authors_keep_their_line_of_keywords(root: Path) -> None:
    loaded = CoauthorCS().load(root)
    assert {name: loaded.graph.keys_of(rows) for name, rows in loaded.labels.items()} == {
        "NLP": [2, 1],
        "data_mining": [0],
    }
    rows = csr_array(loaded.graph.features(loaded.graph.rows_of([0, 1, 2]))).toarray()
    assert rows[0].tolist() == [1, 0, 0]
    assert rows[1] == pytest.approx([0, 0.5**0.5, 0.5**0.5])
    assert rows[2] == pytest.approx(np.array([1, 0, 1 + np.log(20)]) / np.hypot(1, 1 + np.log(20)))


def test_edges_have_one_kind_and_no_direction(root: Path) -> None:
    edges = list(read_edges(root / "coauthor-cs" / EDGES))
    assert [tuple(edge) for edge in edges] == [(0, 2, "paper", False), (1, 2, "paper", False)]
    graph = CoauthorCS().load(root).graph
    assert [graph.keys_of(pair) for pair in zip(*graph.edges(), strict=True)] == [[2, 0], [2, 1]]


def test_a_line_without_a_label_is_refused(root: Path, write_xz: Write) -> None:
    write_xz(root / "coauthor-cs" / LABELS, "0\t0\n2\t1\n")
    with pytest.raises(DataError, match=r"2 authors, .* lines for 3"):
        CoauthorCS().load(root)


@pytest.mark.real_data
def test_authors_have_the_stated_statistics(real_data: Path) -> None:
    loaded = CoauthorCS().load(real_data)
    found = describe(loaded.graph, loaded.labels)
    assert (found.nodes, found.edges, found.classes, found.isolated) == (18333, 81894, 15, 0)
    assert found.degree_quantiles == (1, 2, 3, 6, 11, 19, 47, 136)
    assert found.homophily == pytest.approx(0.808, abs=0.0005)
    assert found.adjusted_homophily == pytest.approx(0.785, abs=0.0005)
    assert (found.features, loaded.graph.num_stored_features) == (6805, 1092079)
    assert class_quartiles(loaded.labels) == [429, 876, 1444]
    assert loaded.labels["game_theory"].size == found.smallest_class == 118
    assert loaded.labels["robotics"].size == found.largest_class == 4136
    assert str(loaded.setting).startswith("5/2/2/6 classes")
