"""What a notebook shows of a store, its graph, versions and model."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import nodegraft as ng
from nodegraft.base.tabular import ColumnTable
from nodegraft.graph.keys import Key
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from tests.store.small import made


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store, new = made(tmp_path / "a <b> store")
    store.add(new, intent=Intent(note="<script>alert(1)</script>", override="it is a test"))
    return store


def test_classes_are_a_table_of_counts(store: Store) -> None:
    frame = store.classes().to_pandas()
    labels = store.state(2).labels
    assert frame["class"].tolist() == list(labels)
    assert frame["labels"].tolist() == [16] * 4 + [5] * 2
    assert frame["held_out"].tolist() == [4] * 4 + [0] * 2
    assert frame["session"].tolist() == [0] * 4 + [1] * 2
    assert len(store.classes(version=1)) == 4
    assert "parent" not in frame
    store.move({"class-00": "first", "first": "all"})
    rows = {row["class"]: row for row in store.classes().to_arrow().to_pylist()}
    parents = [rows[name]["parent"] for name in ("class-00", "class-01", "first", "all")]
    assert parents == ["first", None, "all", None]
    assert (rows["first"]["labels"], rows["first"]["session"]) == (0, None)


def test_labels_are_a_table_of_nodes(store: Store) -> None:
    frame = store.labels().to_pandas()
    assert dict(zip(frame["node"], frame["label"], strict=True)) == store.state(2).label_of
    assert frame["held_out"].sum() == 16


def test_predictions_are_shown_as_a_table_without_more_words(store: Store) -> None:
    nodes = store.graph().keys_of([0, 1])
    predictions = store.predict(nodes)
    html = predictions._repr_html_()
    assert html.count("<tr>") == 3
    assert "2 rows" in html
    assert repr(predictions).splitlines()[0].startswith("node  ")
    assert pa.table(predictions).equals(predictions.to_arrow())
    assert "100 rows, the first 20 shown" in store.predict(range_of(store, 100))._repr_html_()


def range_of(store: Store, count: int) -> list[Key]:
    return store.graph().keys_of(np.arange(count))


def test_a_summary_names_versions_and_accuracy(store: Store) -> None:
    html = store._repr_html_()
    assert str(store.version(1).held_out) in html
    assert "95 % interval" in html
    assert "2: add class-04 (5), class-05 (5)" in html  # waits for review
    assert "a &lt;b&gt; store" in html
    assert repr(store) == f"Store({str(store.place)!r})"
    store.promote()
    assert "candidate version" not in store._repr_html_()


def test_what_users_wrote_is_escaped(store: Store) -> None:
    for html in (store.version()._repr_html_(), store.history()._repr_html_()):
        assert "<script" not in html
        assert "&lt;script&gt;" in html
    assert repr(store.version()).startswith("<Version 2: add class-04 (5)")


def test_a_graph_and_a_model_say_their_sizes(store: Store) -> None:
    state = store.state()
    assert f"{state.graph.num_edges:,}" in state.graph._repr_html_()
    assert "class-00 16" in state.model._repr_html_()
    assert "none: call fit" in ng.make_method("graft")._repr_html_()


def test_a_wide_table_is_cut() -> None:
    wide = ColumnTable({f"c{place}": [0.123456] for place in range(130)})
    assert "the first 20 of 130 columns shown" in wide._repr_html_()
    assert "0.1235" in wide._repr_html_()
    assert repr(ColumnTable({"a": []})) == "a\n[0 rows]"
