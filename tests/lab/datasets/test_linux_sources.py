from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.matrix import row_norms
from nodegraft.graph.statistics import describe
from nodegraft.lab.datasets.linux_sources import (
    EDGES,
    KINDS,
    NODES,
    TERMS,
    LinuxSources,
)
from nodegraft.lab.datasets.templates.readers import read_typed_edges
from tests.lab.datasets.readme_numbers import class_quartiles, relation_table

Write = Callable[[Path, str], Path]

# Of 30 files, word 0 is in 6 (a fifth), word 1 in 7, word 2 in 5 and word 3 in 4.
HOLDERS = {0: range(6), 1: range(7), 2: range(5), 3: range(4)}


def words(node: int) -> str:
    return " ".join(f"{word}:{node + 1}" for word, nodes in HOLDERS.items() if node in nodes)


@pytest.fixture
def root(tmp_path: Path, write_xz: Write) -> Path:
    folder = tmp_path / "linux-sources"
    lines = [f"{node}\t{node // 15}\t{words(node)}\n" for node in range(30)]
    write_xz(folder / NODES, "".join(lines) + "30\t2\t0:9\n")
    write_xz(folder / TERMS, "bus\nthe\nclock\nxyzzy\n")
    edges = (
        "0\t3\tsymbol\n3\t0\tsymbol\n20\t1\tsymbol\n0\t3\theader\n2\t1\tdepends\n4\t30\tselect\n"
    )
    write_xz(folder / EDGES, edges)
    (folder / "classes.tsv").write_text("0\t15\tdrivers/i2c\n1\t15\tfs/xfs\n2\t1\tmm\n")
    return tmp_path


def test_edges_keep_kind_and_direction(root: Path) -> None:
    place = root / "linux-sources" / EDGES
    assert [tuple(edge) for edge in read_typed_edges(place, KINDS)] == [
        (0, 3, "symbol", True),
        (3, 0, "symbol", True),
        (20, 1, "symbol", True),
        (0, 3, "header", False),
        (2, 1, "depends", True),
        (4, 30, "select", True),
    ]


def test_edges_keep_their_kind_among_large_classes(root: Path) -> None:
    loaded = LinuxSources(smallest_class=2).load(root)
    graph = loaded.graph
    edges = [graph.keys_of(pair) for pair in zip(*graph.edges(), strict=True)]
    assert edges == [[0, 3], [1, 2], [1, 20]]
    assert loaded.labels.classes == ("drivers/i2c", "fs/xfs")
    by_kind = {
        kind: [graph.keys_of(pair) for pair in zip(*graph.edges_of(kind)[:2], strict=True)]
        for kind in graph.relations
    }
    assert by_kind == {
        "depends": [[1, 2]],
        "header": [[0, 3]],
        "select": [],
        "symbol": [[0, 3], [1, 20]],
    }
    assert [graph.is_directed(kind) for kind in graph.relations] == [True, False, True, True]


def test_words_that_are_rare_or_everywhere_are_dropped(root: Path) -> None:
    graph = LinuxSources(smallest_class=2).load(root).graph
    rows = csr_array(graph.features(np.arange(30))).toarray()
    # "bus" and "clock"; file 30 is of a small class and does not count.
    assert rows.shape == (30, 2)
    assert rows[4] == pytest.approx([0.5**0.5, 0.5**0.5])
    assert rows[5].tolist() == [1, 0]
    assert not rows[6:].any()


def test_paths_are_not_needed(root: Path) -> None:
    assert "paths.tsv.xz" not in LinuxSources().locate(root)


def test_no_large_class_is_said(root: Path) -> None:
    with pytest.raises(DataError, match="No class has 60 nodes: lower smallest_class"):
        LinuxSources().load(root)


@pytest.mark.real_data
def test_files_have_the_stated_statistics(real_data: Path) -> None:
    loaded = LinuxSources().load(real_data)
    found = describe(loaded.graph, loaded.labels)
    assert (found.nodes, found.edges, found.classes, found.isolated) == (20538, 135927, 67, 1574)
    # The README has 109: the degree below 109.63 instead of the nearest one.
    assert found.degree_quantiles == (0, 1, 3, 7, 12, 20, 110, 8225)
    assert found.homophily == pytest.approx(0.368, abs=0.0005)
    assert found.adjusted_homophily == pytest.approx(0.340, abs=0.0005)
    assert found.features == 14730
    assert found.features_per_node == pytest.approx(92.5, abs=0.05)
    lengths = row_norms(loaded.graph.features(np.arange(found.nodes)))
    assert int((lengths == 0).sum()) == 654
    assert found.smallest_class == 62
    assert class_quartiles(loaded.labels) == [99, 165, 253]
    assert loaded.labels["drivers/net"].size == found.largest_class == 2953
    assert sum(rows.size >= 100 for rows in loaded.labels.values()) == 50
    assert str(loaded.setting).startswith("22/12/3/30 classes")


@pytest.mark.real_data
def test_kinds_have_the_stated_statistics(real_data: Path) -> None:
    edges = read_typed_edges(LinuxSources().locate(real_data)[EDGES], KINDS)
    assert relation_table(LinuxSources().load(real_data), edges) == {
        "symbol": (101578, 0.319, 0.286, 18162),
        "header": (21730, 0.601, 0.584, 6045),
        "select": (13550, 0.613, 0.589, 7525),
        "depends": (10090, 0.305, 0.277, 8284),
    }


@pytest.mark.real_data
def test_all_directories_have_the_stated_statistics(real_data: Path) -> None:
    loaded = LinuxSources(smallest_class=1).load(real_data)
    found = describe(loaded.graph, loaded.labels)
    assert (found.nodes, found.edges, found.classes) == (22101, 155605, 106)
    assert found.homophily == pytest.approx(0.340, abs=0.0005)
    assert found.adjusted_homophily == pytest.approx(0.314, abs=0.0005)
