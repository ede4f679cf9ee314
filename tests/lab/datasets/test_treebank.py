from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.graph.statistics import describe
from nodegraft.lab.datasets.templates.readers import read_typed_edges
from nodegraft.lab.datasets.treebank import EDGES, KINDS, NODES, Treebank, letter_runs
from tests.lab.datasets.readme_numbers import class_quartiles, relation_table

Write = Callable[[Path, str], Path]

WORDS = '3\t0\t0\tAn\n1\t0\t0\tan\n0\t1\t7\tan\n2\t1\t7\t"\n4\t2\t7\tlast\n'
LINKS = "3\t1\tnext\n1\t0\tnext\n0\t2\thead\n1\t3\thead\n0\t4\thead\n0\t3\tcoref\n"


@pytest.fixture
def root(tmp_path: Path, write_xz: Write) -> Path:
    folder = tmp_path / "treebank-roles"
    write_xz(folder / NODES, WORDS)
    write_xz(folder / EDGES, LINKS)
    (folder / "classes.tsv").write_text("0\t2\tdet\n1\t2\tnmod:poss\n2\t1\troot\n")
    return tmp_path


def test_edges_keep_kind_and_direction(root: Path) -> None:
    place = root / "treebank-roles" / EDGES
    assert [tuple(edge) for edge in read_typed_edges(place, KINDS)] == [
        (3, 1, "next", True),
        (1, 0, "next", True),
        (0, 2, "head", False),
        (1, 3, "head", False),
        (0, 4, "head", False),
        (0, 3, "coref", False),
    ]


def test_kinds_are_merged_among_large_roles(root: Path) -> None:
    loaded = Treebank(smallest_class=2).load(root)
    graph = loaded.graph
    edges = [graph.keys_of(pair) for pair in zip(*graph.edges(), strict=True)]
    assert edges == [[3, 1], [3, 0], [1, 0], [0, 2]]
    assert {name: graph.keys_of(rows) for name, rows in loaded.labels.items()} == {
        "det": [3, 1],
        "nmod:poss": [0, 2],
    }
    assert loaded.groups is None


def test_features_are_the_letters_of_the_word(root: Path) -> None:
    graph = Treebank(smallest_class=2).load(root).graph
    rows = csr_array(graph.features(np.arange(4))).toarray()
    # " ", a, n, " a", an, "n ", " an", "an ", " an "; of the quotation mark only the blank is left
    assert rows.shape == (4, 9)
    assert rows[0] == pytest.approx(np.full(9, 1 / 3))
    assert (rows[0] == rows[2]).all()
    assert sorted(rows[3].tolist()) == [0] * 8 + [1]


def test_too_few_words_are_refused() -> None:
    with pytest.raises(DataError, match="No letter occurs in 3 of 2 words"):
        letter_runs(["an", "an"])


@pytest.mark.real_data
def test_words_have_the_stated_statistics(real_data: Path) -> None:
    loaded = Treebank().load(real_data)
    found = describe(loaded.graph, loaded.labels)
    assert (found.nodes, found.edges, found.classes, found.isolated) == (85020, 142503, 42, 5)
    assert found.degree_quantiles == (0, 2, 2, 3, 4, 5, 8, 15)
    assert found.homophily == pytest.approx(0.052, abs=0.0005)
    assert found.adjusted_homophily == pytest.approx(-0.003, abs=0.0005)
    assert found.features == 12540
    assert found.features_per_node == pytest.approx(17.8, abs=0.05)
    assert found.smallest_class == 73
    assert class_quartiles(loaded.labels) == [309, 941, 3133]
    assert loaded.labels["case"].size == found.largest_class == 10626
    assert sum(rows.size >= 100 for rows in loaded.labels.values()) == 40
    assert str(loaded.setting).startswith("14/6/2/20 classes")


@pytest.mark.real_data
def test_kinds_have_the_stated_statistics(real_data: Path) -> None:
    edges = read_typed_edges(Treebank().locate(real_data)[EDGES], KINDS)
    assert relation_table(Treebank().load(real_data), edges) == {
        "next": (84656, 0.028, -0.031, 85011),
        "head": (80147, 0.022, -0.040, 84696),
        "coref": (12277, 0.320, 0.215, 16198),
    }
