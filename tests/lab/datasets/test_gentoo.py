from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nodegraft.graph.statistics import describe
from nodegraft.lab.datasets.gentoo import CACHE, LONG, Gentoo, GentooUncut, package_in

Write = Callable[[Path, str], Path]

STANZAS = """\
Package: app-a/xyzzy
Version: 1
DESCRIPTION: a tool for words
DEPEND: >=dev-b/lib-2.0-r1:0= flag? ( dev-b/other[use] ) || ( ) !app-a/foe
RDEPEND: virtual/thing

Package: app-a/xyzzy
Version: 2
DESCRIPTION: a tool for many words
PDEPEND: ~app-a/foe-3_rc1

Package: app-a/foe
Version: 1
DESCRIPTION: a tool against words
DEPEND: !!dev-b/lib gone-c/nowhere

Package: dev-b/lib
Version: 2
DESCRIPTION: a library of words

Package: dev-b/other
Version: 9
DESCRIPTION: a library of words

Package: virtual/thing
Version: 0
DESCRIPTION: words
"""


@pytest.fixture
def root(tmp_path: Path, write_xz: Write) -> Path:
    write_xz(tmp_path / "gentoo-packages" / CACHE, STANZAS)
    write_xz(tmp_path / "gentoo-packages" / LONG, "app-a/foe\tA library too.\nno-d/body\twords\n")
    return tmp_path


@pytest.mark.parametrize(
    ("token", "package"),
    [
        ("dev-libs/glib", "dev-libs/glib"),
        (">=dev-libs/glib-2.28:2", "dev-libs/glib"),
        ("=dev-libs/glib-2*", "dev-libs/glib"),
        ("~media-libs/foo-1.2b_pre3_p20150811-r12", "media-libs/foo"),
        ("<sys-apps/sed-4[acl,-nls(-)?]", "sys-apps/sed"),
        ("media-fonts/font-adobe-100dpi", "media-fonts/font-adobe-100dpi"),
        (">=dev-lang/python-exec-2:=[python_targets_python2_7(-)?]", "dev-lang/python-exec"),
        (">=x11-libs/gtk+-3.1.13:3[introspection]", "x11-libs/gtk+"),
        ("!app-arch/tar", None),
        ("!!<app-arch/tar-2", None),
        ("!flag?", None),
        ("flag?", None),
        ("||", None),
        ("(", None),
    ],
)
def test_package_in_a_token(token: str, package: str | None) -> None:
    assert package_in(token) == package


def test_versions_are_united_and_blockers_passed_over(root: Path) -> None:
    graph = GentooUncut(smallest_class=2).load(root).graph
    edges = [graph.keys_of(pair) for pair in zip(*graph.edges(), strict=True)]
    assert edges == [
        ["app-a/xyzzy", "app-a/foe"],
        ["app-a/xyzzy", "dev-b/lib"],
        ["app-a/xyzzy", "dev-b/other"],
    ]
    assert {kind: graph.edges_of(kind)[0].size for kind in graph.relations} == {
        "build": 2,
        "run": 0,
        "later": 1,
    }
    assert all(graph.is_directed(kind) for kind in graph.relations)


def test_stand_ins_and_small_classes_are_left_out(root: Path) -> None:
    assert Gentoo(smallest_class=1).load(root).labels.classes == ("app-a", "dev-b")


def test_names_and_categories_are_no_features(root: Path, write_xz: Write) -> None:
    loaded = Gentoo(smallest_class=2).load(root)
    # Only these stand in three descriptions, if the long one of foe counts.
    assert loaded.graph.num_features == len(["library", "words"])
    renamed = STANZAS.replace("app-a/", "words-library/").replace("xyzzy", "words-library")
    write_xz(root / "gentoo-packages" / CACHE, renamed)
    write_xz(root / "gentoo-packages" / LONG, "words-library/foe\tA library too.\n")
    other = Gentoo(smallest_class=2).load(root)
    assert "words-library" in other.labels.classes
    rows = np.arange(4)
    assert (other.graph.features(rows) != loaded.graph.features(rows)).nnz == 0


def test_hubs_stay_without_their_edges(root: Path) -> None:
    loaded = Gentoo(smallest_class=2, hub_degree=2).load(root)
    assert (loaded.graph.num_nodes, loaded.graph.num_edges) == (4, 0)
    assert "1 packages with more than 2 links" in loaded.notes[1]
    assert "3 of 3 edges were removed" in loaded.notes[1]
    assert Gentoo(smallest_class=2, hub_degree=3).load(root).graph.num_edges == 3


@pytest.mark.real_data
def test_uncut_graph_has_the_stated_statistics(real_data: Path) -> None:
    loaded = GentooUncut().load(real_data)
    found = describe(loaded.graph, loaded.labels)
    assert (found.nodes, found.edges, found.classes, found.isolated) == (17589, 111520, 133, 881)
    assert found.degree_quantiles == (0, 1, 3, 5, 10, 22, 109, 2687)
    assert found.homophily == pytest.approx(0.238, abs=0.0005)
    # The README counts 6,908 words, 8.5 a node, and does not say how it cuts words: ours is a pin.
    assert found.features == 6831
    assert found.features_per_node == pytest.approx(8.5, abs=0.05)


@pytest.mark.real_data
def test_hubs_are_cut_by_default(real_data: Path) -> None:
    loaded = Gentoo().load(real_data)
    found = describe(loaded.graph, loaded.labels)
    assert (found.nodes, found.edges, found.classes) == (17589, 59129, 133)
    assert found.degree_quantiles[-1] <= 300
    assert "59 packages" in loaded.notes[1]
    assert "52391 of 111520 edges" in loaded.notes[1]
