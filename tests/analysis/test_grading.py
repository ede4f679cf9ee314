"""Python in, Python out: labels in any form, and answers as numbers and tables."""

from pathlib import Path
from unittest.mock import Mock

import pyarrow as pa
import pytest

from nodegraft.analysis.labels.changes import Change
from nodegraft.base.errors import MissingExtraError, StoreError
from nodegraft.base.tabular import Records, Tabular
from nodegraft.store.store import Store
from tests.store.small import drawn, made


def test_labels_may_be_tables_wherever_a_store_takes_them(tmp_path: Path) -> None:
    graph, labels = drawn()
    rows = [(key, name) for name in sorted(labels)[:4] for key in labels[name][:20]]
    keys, names = (list(column) for column in zip(*rows, strict=True))
    table = pa.table({"key": keys, "label": names})
    store = Store.init(tmp_path / "s", graph, table, method="sgc-mean")
    assert store.state().labels.owners() == dict(rows)
    new = sorted(labels)[4]
    version = store.add(pa.table({"key": labels[new][:5], "label": [new] * 5}))
    assert version.detail == {"classes": {new: labels[new][:5]}}


def test_a_score_is_the_share_of_right_answers(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s")
    held_out = store.state().labels.held_out
    assert store.score() == store.history()[0].measures["after"]["accuracy"]
    assert store.score(held_out) == store.score()
    name = next(iter(held_out))
    answers = store.predict(held_out[name]).predictions
    assert store.score({name: held_out[name]}) == answers.count(name) / len(answers)
    # Nobody has taught it: all answers are wrong.
    assert store.score(new) == 0.0
    store.add(new)
    assert store.score(new, version=2) > 0.5


def test_confusion_and_report_count_the_same_nodes(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "s", method="graft")
    seen = store.confusion_matrix()
    nodes = sum(map(len, store.state().labels.held_out.values()))
    assert seen.counts.sum() == nodes
    assert seen.counts.trace() / nodes == store.score()
    assert not seen.abstained.any()
    careful = store.confusion_matrix(min_confidence=1.0)
    assert careful.abstained.sum() > 0
    assert careful.counts.sum() + careful.abstained.sum() == nodes
    assert str(nodes) in store.classification_report()


def test_nobody_to_ask_about_is_told(tmp_path: Path) -> None:
    graph, labels = drawn()
    few = {name: keys[:3] for name, keys in labels.items()}
    store = Store.init(tmp_path / "s", graph, few, method="sgc-mean")
    with pytest.raises(StoreError, match="no labelled node to measure accuracy on: give labels"):
        store.score()


def test_what_is_a_table_can_be_had_as_one(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s")
    seen = store.preview(Change("add", {"classes": new})).to_arrow()
    assert seen.column_names == ["before", "after", "nodes"]
    store.add(new)
    history = store.history().to_arrow()
    assert history["action"].to_pylist() == ["init", "add"]
    assert history["detail"].to_pylist()[1].startswith('{"classes": {')
    assert store.drift().to_arrow()["measure"].to_pylist()[0] == "predictions"
    suggested = store.suggest(3)
    assert suggested.to_arrow()["node"].to_pylist() == [one.node for one in suggested]
    assert Records[object]().to_arrow().num_rows == 0


def test_a_data_frame_comes_where_pandas_is(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    store, _ = made(tmp_path / "s")
    frame = store.predict().to_pandas()
    assert list(frame.columns[:5]) == ["node", "class", "label", "prediction", "confidence"]
    assert store.score(frame.set_index("node")["prediction"]) == 1.0


def test_without_pandas_the_way_out_is_told() -> None:
    class Answer(Tabular):
        def to_arrow(self) -> Mock:
            return Mock(**{"to_pandas.side_effect": ModuleNotFoundError(name="pandas")})

    with pytest.raises(MissingExtraError, match="pip install pandas"):
        Answer().to_pandas()
