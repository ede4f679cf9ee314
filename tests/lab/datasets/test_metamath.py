from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.graph.edges.matrix import row_norms
from nodegraft.graph.statistics import describe
from nodegraft.lab.datasets.gentoo import without_hubs
from nodegraft.lab.datasets.metamath import EDGES, KINDS, NODES, Metamath
from nodegraft.lab.datasets.templates.readers import read_typed_edges
from tests.lab.datasets.readme_numbers import class_quartiles, relation_table

Write = Callable[[Path, str], Path]

STATEMENTS = """\
0\t4\ttheorem\tA group of order two; see "xyzzy".
1\t4\taxiom\tThe identity of a group
2\t7\ttheorem\tOrder, order, of a Group
3\t7\ttheorem\t
4\t9\tdefinition\tgroup order
"""
LINKS = "0\t1\tproof\n1\t0\tsee\n2\t0\tsymbol\n3\t4\tproof\n3\t2\tsee\n"
CHAPTERS = "4\t2\tALGEBRA\tGroups:  first  steps\n7\t2\tALGEBRA\tRings\n9\t1\tLOGIC\tLogic\n"


@pytest.fixture
def root(tmp_path: Path, write_xz: Write) -> Path:
    folder = tmp_path / "metamath-theorems"
    write_xz(folder / NODES, STATEMENTS)
    write_xz(folder / EDGES, LINKS)
    (folder / "classes.tsv").write_text(CHAPTERS)
    return tmp_path


def test_edges_keep_kind_and_direction(root: Path) -> None:
    place = root / "metamath-theorems" / EDGES
    assert [tuple(edge) for edge in read_typed_edges(place, KINDS)] == [
        (0, 1, "proof", True),
        (1, 0, "see", True),
        (2, 0, "symbol", True),
        (3, 4, "proof", True),
        (3, 2, "see", True),
    ]


def test_kinds_are_merged_among_large_chapters(root: Path) -> None:
    loaded = Metamath(smallest_class=2).load(root)
    graph = loaded.graph
    edges = [graph.keys_of(pair) for pair in zip(*graph.edges(), strict=True)]
    assert edges == [[0, 1], [0, 2], [2, 3]]
    assert {name: graph.keys_of(rows) for name, rows in loaded.labels.items()} == {
        "Groups: first steps": [0, 1],
        "Rings": [2, 3],
    }


def test_only_the_comment_gives_features(root: Path) -> None:
    graph = Metamath(smallest_class=1).load(root).graph
    rows = csr_array(graph.features(np.arange(5))).toarray()
    # "group" and "order" stand in three comments; "theorem" is in four lines and in no comment.
    assert rows.shape == (5, 2)
    assert rows[2] == pytest.approx([0.2**0.5, 0.8**0.5])
    assert rows[3].tolist() == [0, 0]


def test_names_and_formulas_are_not_needed(root: Path) -> None:
    assert not {"names.tsv.xz", "formulas.tsv.xz"} & set(Metamath().locate(root))


@pytest.mark.real_data
def test_statements_have_the_stated_statistics(real_data: Path) -> None:
    loaded = Metamath().load(real_data)
    found = describe(loaded.graph, loaded.labels)
    assert (found.nodes, found.edges, found.classes, found.isolated) == (26558, 684657, 73, 0)
    assert found.degree_quantiles == (1, 11, 17, 27, 46, 80, 372, 20474)
    assert found.homophily == pytest.approx(0.149, abs=0.0005)
    assert found.adjusted_homophily == pytest.approx(0.098, abs=0.0005)
    assert found.features == 2461
    assert found.features_per_node == pytest.approx(5.5, abs=0.05)
    lengths = row_norms(loaded.graph.features(np.arange(found.nodes)))
    assert int((lengths == 0).sum()) == 122
    assert (found.smallest_class, found.largest_class) == (61, 2047)
    assert class_quartiles(loaded.labels) == [109, 226, 394]
    assert sum(rows.size >= 100 for rows in loaded.labels.values()) == 59
    assert str(loaded.setting).startswith("25/14/4/30 classes")


@pytest.mark.real_data
def test_hubs_have_the_stated_statistics(real_data: Path) -> None:
    loaded = Metamath().load(real_data)
    graph, _ = without_hubs(loaded.graph, 300)
    found = describe(graph, loaded.labels)
    assert (found.edges, found.isolated) == (295844, 355)
    assert found.homophily == pytest.approx(0.288, abs=0.0005)


@pytest.mark.real_data
def test_kinds_have_the_stated_statistics(real_data: Path) -> None:
    edges = read_typed_edges(Metamath().locate(real_data)[EDGES], KINDS)
    assert relation_table(Metamath().load(real_data), edges) == {
        "proof": (470220, 0.146, 0.087, 26543),
        "symbol": (214259, 0.155, 0.113, 26556),
        "see": (6142, 0.813, 0.807, 7345),
    }


@pytest.mark.real_data
def test_all_chapters_have_the_stated_statistics(real_data: Path) -> None:
    loaded = Metamath(smallest_class=1).load(real_data)
    found = describe(loaded.graph, loaded.labels)
    assert (found.nodes, found.edges, found.classes) == (27161, 703703, 93)
    assert found.homophily == pytest.approx(0.147, abs=0.0005)
    assert found.adjusted_homophily == pytest.approx(0.096, abs=0.0005)
