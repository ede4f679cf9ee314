"""Class names: what is refused everywhere, and which names are probably the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodegraft.analysis.labels.changes import Change, replay
from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.base.errors import ClassNameError, DataError, ParameterError
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels, class_name, likely_duplicates
from nodegraft.model.method import Method
from nodegraft.model.registry import make_method
from nodegraft.store.intent import Intent
from nodegraft.tables.labels import ALIKE, read_labels
from nodegraft.tables.read import read_tables

GRAPH = Graph(range(4), np.eye(4), edges=[(0, 1), (2, 3)])


def fitted() -> Method:
    return make_method("graft").fit(GRAPH, {"a": [0], "b": [1, 2]})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (" hats", "' hats' begins or ends with a blank: write 'hats'\\.$"),
        ("hats\u00a0", "begins or ends with a blank"),
        ("ha\0ts", "has a control or invisible character"),
        ("ha\nts", "has a control or invisible character"),
        ("ha\u200bts", r"'ha\\u200bts' has a control or invisible character"),
        ("ha\u202ets", "has a control or invisible character"),
        ("x" * 201, "at most 200 characters; .* has 201"),
        ("x" * 1_000_000, "has 1,000,000"),
    ],
)
def test_names_that_no_class_may_have(name: str, message: str) -> None:
    known = StoreLabels().added({"a": [1, 2], "b": [3]})
    attempts: list[Any] = [
        lambda: class_name(name),
        lambda: NodeLabels.from_names([name]),
        lambda: make_method("sgc-mean").fit(GRAPH, {name: [0], "b": [1]}),
        lambda: fitted().add_classes(GRAPH, {name: [3]}),
        lambda: fitted().set_labels(GRAPH, {name: [0], "b": [1]}, {name: 0, "b": 0}),
        lambda: known.added({name: [4]}),
        lambda: known.renamed("a", name),
        lambda: known.merged(["a", "b"], name),
        lambda: known.split("a", {name: [1], "c": [2]}),
    ]
    for attempt in attempts:
        with pytest.raises(ClassNameError, match=message):
            attempt()
    assert class_name("x" * 200)


def test_names_that_are_probably_the_same() -> None:
    names = ["hats", "Hats", "big hats", "bighats", "big  Hats", "shoes", "caf\u00e9", "cafe\u0301"]
    found = likely_duplicates(names)
    assert found == [("hats", "Hats"), ("big hats", "bighats", "big  Hats"), tuple(names[-2:])]


def test_another_spelling_needs_force() -> None:
    known = StoreLabels().added({"hats": [1, 2], "shoes": [3]})
    attempts: list[Any] = [
        lambda **force: known.added({"Hats": [4]}, **force),
        lambda **force: known.renamed("shoes", "HATS", **force),
        lambda **force: known.split("shoes", {"ha ts": [3], "x": [5]}, **force),
        lambda **force: known.added({"new": [5], "New": [6]}, **force),
    ]
    for attempt in attempts:
        with pytest.raises(ClassNameError, match=r"differs from .*--force-name"):
            attempt()
        assert len(attempt(force_name=True)) >= 2
    # A class may change its own spelling.
    assert "Hats" in known.renamed("hats", "Hats")
    assert "Hats" in known.merged(["hats", "shoes"], "Hats")


def test_what_was_accepted_once_is_not_refused_when_it_is_replayed() -> None:
    known = StoreLabels().added({"hats": [1]})
    assert list(replay(known, {2: Change("add", {"classes": {"Hats": [2]}})}, 1, known)) == [
        "hats",
        "Hats",
    ]


def test_a_table_strips_blanks_only_when_it_is_repaired(tmp_path: Path) -> None:
    nodes, labels = tmp_path / "nodes.csv", tmp_path / "labels.csv"
    nodes.write_text("key,x\na,1\nb,2\nc,3\nd,4\n")
    labels.write_text('key,label\na,hats\nb," hats"\nc,Hats\nd," "\n')
    with pytest.raises(DataError) as caught:
        read_tables(nodes, None, labels, features="x")
    for line in (
        "1  label whose class name begins or ends with a blank, column 'label' of labels.csv "
        "(for example row 2: ' hats') -> stripped",
        "1  label whose class name is only blanks, column 'label' of labels.csv "
        "(for example row 4: ' ') -> dropped",
    ):
        assert line in str(caught.value)
    tables = read_tables(nodes, None, labels, features="x", repair=True)
    assert tables.labels is not None
    assert {name: keys.tolist() for name, keys in tables.labels.items()} == {
        "Hats": ["c"],
        "hats": ["a", "b"],
    }
    assert tables.report.count(ALIKE) == 1
    assert "'Hats' and 'hats'" in str(tables.report)


def test_a_name_that_cannot_be_repaired_is_refused_all_the_same(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text(f"key,label\n1,{'x' * 201}\n")
    with pytest.raises(DataError, match=r"correct them as shown(.|\n)*choose another name"):
        read_labels(labels, Graph([1, 2], np.eye(2)), repair=True)


def test_notes_and_authors_have_no_nul() -> None:
    fields: Any
    for fields in ({"author": "a\0b"}, {"note": "a\0b"}, {"override": "a\0b"}):
        with pytest.raises(ParameterError, match="NUL"):
            Intent(**fields)
