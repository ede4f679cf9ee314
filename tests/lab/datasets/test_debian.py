from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.graph.statistics import describe
from nodegraft.lab.datasets.debian import PACKAGES, TRANSLATION, Debian, DebianAll, names_in

Write = Callable[[Path, str], Path]

INDEX = """\
Package: editor
Depends: libc6 (>= 2.34), mta | postman [amd64],
 shell:any
Suggests: everywhere, absent
Tag: xyzzy::xyzzy, xyzzy
Description-md5: 1
Section: text

Package: postman
Source: post (1.2)
Provides: mta (= 1), everywhere
Recommends: editor
Description-md5: 2
Section: text

Package: exim
Source: post
Provides: mta, everywhere
Description-md5: 2
Section: text

Package: viewer
Description-md5: none
Description: views words
Section: text

Package: shell
Provides: everywhere
Pre-Depends: libc6
Description-md5: 1
Section: libs

Package: shell
Enhances: viewer
Depends: viewer
Description-md5: 1
Section: libs

Package: libc6
Provides: everywhere
Description-md5: 1
Section: libs

Package: task-a
Provides: everywhere
Source: tasksel
Description-md5: 1
Section: tasks

Package: task-b
Provides: everywhere
Source: tasksel
Depends: task-a
Description-md5: 1
Section: tasks
"""
TEXTS = """\
Package: editor
Description-md5: 1
Description-en: edits words
 Long text about words.
 .
 More of it.

Package: postman
Description-md5: 2
Description-en: carries words
"""


@pytest.fixture
def root(tmp_path: Path, write_xz: Write) -> Path:
    write_xz(tmp_path / "debian-packages" / PACKAGES, INDEX)
    write_xz(tmp_path / "debian-packages" / TRANSLATION, TEXTS)
    return tmp_path


def test_names_in_a_relation() -> None:
    relation = "a, b (>= 1:2.0) | c:any, d [!hurd-any] <!nocheck>,\nlibstdc++6|g.h-1"
    assert names_in(relation) == ["a", "b", "c", "d", "libstdc++6", "g.h-1"]
    assert names_in("") == []


def test_alternatives_and_provided_names_are_links(root: Path) -> None:
    graph = DebianAll(smallest_class=2).load(root).graph
    edges = [graph.keys_of(pair) for pair in zip(*graph.edges(), strict=True)]
    # Six packages provide "everywhere": too many to mean anything.
    assert edges == [
        ["editor", "postman"],
        ["editor", "exim"],
        ["editor", "shell"],
        ["editor", "libc6"],
        ["viewer", "shell"],
        ["shell", "libc6"],
        ["task-a", "task-b"],
    ]


def test_packages_of_one_source_are_a_group(root: Path) -> None:
    loaded = Debian(smallest_class=2).load(root)
    assert loaded.graph.keys_of(range(4)) == ["editor", "postman", "exim", "viewer"]
    assert loaded.groups is not None
    assert loaded.groups.tolist() == [0, 1, 1, 2]


def test_a_class_of_one_source_gives_no_labels(root: Path) -> None:
    loaded = DebianAll(smallest_class=2).load(root)
    assert loaded.labels.classes == ("text",)
    assert loaded.graph.num_nodes == 8
    assert "libs, tasks" in loaded.notes[-1]


def test_names_sources_and_tags_are_no_features(root: Path) -> None:
    graph = DebianAll(smallest_class=2).load(root).graph
    assert graph.num_features == len(["edits", "long", "text", "words"])
    rows = csr_array(graph.features(graph.rows_of(["editor", "exim", "viewer"])))
    assert np.diff(rows.indptr).tolist() == [4, 1, 1]


@pytest.mark.real_data
def test_topics_have_the_stated_statistics(real_data: Path) -> None:
    loaded = Debian().load(real_data)
    found = describe(loaded.graph, loaded.labels)
    assert (found.nodes, found.edges, found.classes, found.isolated) == (44834, 144773, 41, 4698)
    assert found.homophily == pytest.approx(0.733, abs=0.0005)
    assert (found.smallest_class, found.largest_class) == (125, 4544)


@pytest.mark.real_data
def test_all_sections_have_the_stated_statistics(real_data: Path) -> None:
    loaded = DebianAll().load(real_data)
    found = describe(loaded.graph, loaded.labels)
    # The README counts linux-doc and linux-doc-6.1 (and the edge between them) twice, because
    # the index lists two versions of each.
    assert (found.nodes, found.edges) == (63083 - 2, 315459 - 1)
    assert found.degree_quantiles == (0, 1, 2, 5, 9, 17, 69, 21626)
    assert found.classes == 50 - len(["tasks"])
