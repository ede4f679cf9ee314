"""A store takes another text encoder without new labels, and never mixes two."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import nodegraft as ng
from nodegraft.analysis.version import describe_version
from nodegraft.base.errors import DataError, ParameterError
from nodegraft.cli.app import app
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.tables.features import text_encoders
from tests.service.served import EDGES, NODES, WORDS, asked, make_of_tables
from tests.tables.features.plugin import install

ROW = {"text": "felt brim wool", "price": 4.0, "edges": [{"target": "hats3"}]}
LETTERS = 26


@pytest.fixture(autouse=True)
def _letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch)


def test_another_encoder_keeps_labels_and_edges_and_is_undone(tmp_path: Path) -> None:
    place, nodes = tmp_path / "wear", pa.table(NODES)
    make_of_tables(place)
    shuffled = nodes.take(list(reversed(range(len(nodes)))))
    with Store.open(place) as store:
        before = store.graph()
        preview = store.preview_refit("letters", shuffled)
        assert len(store.history()) == 1
        version = store.refit(encoder="letters", nodes=shuffled)
        assert (version.action, version.detail) == ("refit", {"encoder": ["letters"]})
        assert (version.measures["before"], version.measures["after"]) == (
            preview.before.to_json(),
            preview.after.to_json(),
        )
        after, old = store.graph(version.number), store.state(1)
        assert after.num_features == LETTERS + 1
        assert after.keys_of(after.rows) == before.keys_of(before.rows)
        assert after.num_edges == before.num_edges
        assert store.state(version.number).labels == old.labels
        features: Any = after.features(after.rows)
        new: Any = after.recipe
        assert (features == new.transform(nodes)).all()
        assert store.live == 1
        assert describe_version(version) == "refit on 10 labels, texts by letters"
        measures = [shift.measure for shift in store.drift()]
        assert "edges per node" in measures
        # Features of two encoders cannot be compared.
        assert "similarity to average features" not in measures
        store.promote()
        # What comes later is encoded by the new encoder.
        grown = store.grow(pa.table({"key": ["new"], "text": ["felt"], "price": [1.0]}))
        assert store.graph(grown.number).recipe == new
        assert store.predict(rows=[ROW]).predictions == ["hats"]


def test_undo_brings_the_encoder_of_before_back(tmp_path: Path) -> None:
    place = tmp_path / "wear"
    make_of_tables(place)
    with Store.open(place) as store:
        store.refit(encoder="letters", nodes=pa.table(NODES))
        first, undone = store.version(1), store.undo()
        assert undone.names == first.names
        assert store.predict(version=undone.number).predictions == store.predict().predictions


def test_changed_texts_are_displayed_until_undo(tmp_path: Path) -> None:
    nodes = pa.table({"key": ["b", "a"], "text": ["leather sole", "felt hat"]})
    tables = ng.read_tables(nodes, text="text", min_documents=1)
    labels, place = {"hats": ["a"], "shoes": ["b"]}, tmp_path / "s"
    changed = pa.table({"key": ["a", "b"], "text": ["wool hat", "lace"]})
    columns = {"key": "key"}
    with Store.init(place, tables.graph, labels, tables=columns, texts=tables.texts) as store:
        store.refit(encoder="letters", nodes=changed, intent=Intent(override="a test"))
        assert store.texts(["a", "b"], version=2) == ["wool hat", "lace"]
        assert store.texts(["a", "b"], version=1) == ["felt hat", "leather sole"]
        store.undo()
        assert store.texts(["a", "b"], version=3) == ["felt hat", "leather sole"]


def test_a_missing_package_of_the_encoder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = pa.table(NODES)
    graph = ng.read_graph(nodes, pa.table(EDGES), text="text", encoder="letters")
    labels = {name: [f"{name}{number}" for number in range(5)] for name in WORDS}
    Store.init(tmp_path / "wear", graph, labels).close()
    monkeypatch.setattr(text_encoders, "entry_points", lambda **_: ())
    text_encoders._load.cache_clear()
    with asked(tmp_path / "wear") as client:
        refused = client.post("/v1/predict", json={"rows": [{"text": "felt"}]})
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (500, "missing_extra")
    assert "'letters' of letter-counts 3.1, which is not installed" in error["message"]
    assert error["message"].endswith("pip install letter-counts==3.1")


def test_a_table_without_all_nodes_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "wear"
    make_of_tables(place)
    with Store.open(place) as store:
        with pytest.raises(
            DataError, match=r"3 of 24 nodes .* \(for example hats0, hats1, hats2\)"
        ):
            store.refit(encoder="letters", nodes=pa.table(NODES).slice(3))
        with pytest.raises(ParameterError, match="go together"):
            store.refit(encoder="letters")
        with pytest.raises(ParameterError, match="go together"):
            store.preview_refit(nodes=pa.table(NODES))
        assert len(store.history()) == 1


def test_commands_and_the_service_use_the_encoder_of_the_store(tmp_path: Path) -> None:
    run, place = CliRunner(), str(tmp_path / "wear")
    pq.write_table(pa.table(NODES), nodes := str(tmp_path / "nodes.parquet"))
    pq.write_table(pa.table(EDGES), edges := str(tmp_path / "edges.parquet"))
    pairs = [(f"{name}{number}", name) for name in WORDS for number in range(5)]
    table = pa.table(list(zip(*pairs, strict=True)), names=["key", "label"])
    pq.write_table(table, labels := str(tmp_path / "labels.parquet"))
    tables = ["--nodes", nodes, "--edges", edges, "--labels", labels, "--text", "text"]
    made = run.invoke(app, ["init", place, *tables, "--encoder", "letters", "--write-config"])
    assert made.exit_code == 0, made.output
    assert 'encoder = ["letters"]' in (tmp_path / "nodegraft.toml").read_text()
    with asked(Path(place)) as client:
        row = {"text": "felt brim wool", "edges": [{"target": "hats3"}]}
        sent = client.post("/v1/predict", json={"rows": [row]}).json()
    assert sent["predictions"][0]["class"] == "hats"
    call = ["refit", place, "--encoder", "tfidf", "--encoder", "letters", "--nodes", nodes]
    shown = run.invoke(app, [*call, "--dry-run"])
    assert "Dry run" in shown.output
    done = json.loads(run.invoke(app, [*call, "--json"]).stdout)
    assert done["model_version"] == 2
    with Store.open(place) as store:
        assert [type(part).__name__ for part in store.graph(2).recipe.encoders] == [  # type: ignore[union-attr]
            "TextColumns",
            "EmbeddedText",
        ]
