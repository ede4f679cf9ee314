"""Graphs without features: a table of keys, and edges that say all there is."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from nodegraft.analysis import node_map as maps
from nodegraft.analysis.node_map import node_map, with_more
from nodegraft.base.errors import DataError
from nodegraft.cli.app import app
from nodegraft.graph.graph import Graph
from nodegraft.methods.graft import Graft
from nodegraft.model.registry import load_model
from nodegraft.store.store import Store
from nodegraft.tables.disk.build import build_graph
from nodegraft.tables.read import grow_graph, read_graph, read_tables
from nodegraft.tables.storage import load_graph, save_graph
from tests.service.served import asked

SIZE, BLOCKS = 300, 5
BLOCK = np.arange(SIZE) % BLOCKS
KEYS = [f"n{number}" for number in range(SIZE)]


def columns() -> dict[str, dict[str, Any]]:
    """A block model: four edges of a node lead into its own block, one anywhere."""
    draws = np.random.default_rng(0)
    ends = []
    for node in range(SIZE):
        within = draws.choice(np.flatnonzero(BLOCK[node] == BLOCK), 4)
        ends += [(node, int(other)) for other in (*within, draws.integers(SIZE))]
    source, target = ([KEYS[end] for end in side] for side in zip(*ends, strict=True))
    labelled = {block: 20 if block < 3 else 5 for block in range(BLOCKS)}
    known = [(KEYS[n], f"c{b}") for b, some in labelled.items() for n in members(b)[:some]]
    keys, names = zip(*known, strict=True)
    return {
        "nodes": {"key": KEYS},
        "edges": {"source": source, "target": target},
        "labels": {"key": keys, "label": names},
    }


def members(block: int) -> list[int]:
    return list(np.flatnonzero(block == BLOCK))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("blocks")
    places = {name: folder / f"{name}.parquet" for name in columns()}
    for name, content in columns().items():
        pa.parquet.write_table(pa.table(content), places[name])
    return places


def taught(graph: Graph) -> Graft:
    labels: dict[str, list[str]] = {}
    given = columns()["labels"]
    for key, name in zip(given["key"], given["label"], strict=True):
        labels.setdefault(name, []).append(key)
    model = Graft().fit(graph, {name: labels[name] for name in ("c0", "c1", "c2")})
    model.add_classes(graph, {name: labels[name] for name in ("c3", "c4")})
    return model


def accuracy(answers: list[str]) -> float:
    return float(np.mean([name == f"c{block}" for name, block in zip(answers, BLOCK, strict=True)]))


def test_edges_alone_tell_classes_apart(files: dict[str, Path], tmp_path: Path) -> None:
    graph = read_graph(files["nodes"], files["edges"])
    assert graph.num_features == 0
    model = taught(graph)
    answers = model.predict(graph, KEYS)
    # Chance is 0.2.
    assert accuracy(answers) > 0.8
    assert model.explain(graph, "n200")["answer"] == answers[200]
    assert np.isfinite(model.predict_proba(graph, KEYS)).all()
    model.save(tmp_path / "model")
    save_graph(graph, tmp_path / "graph")
    again = load_graph(tmp_path / "graph")
    assert load_model(tmp_path / "model").predict(again, KEYS) == answers
    more = pa.table({"source": ["new", "new"], "target": ["n0", "n5"]})
    grown = grow_graph(again, pa.table({"key": ["new"]}), more)
    assert model.predict(grown, ["new"]) == ["c0"]


def test_a_graph_on_disk_may_have_no_features(files: dict[str, Path], tmp_path: Path) -> None:
    built = build_graph(files["nodes"], files["edges"], tmp_path / "built").graph
    read = read_graph(files["nodes"], files["edges"])
    assert taught(built).predict(built, KEYS) == taught(read).predict(read, KEYS)


def test_a_store_may_have_no_features(files: dict[str, Path], tmp_path: Path) -> None:
    place, options = tmp_path / "store", [f"--{name}={file}" for name, file in files.items()]
    for line in (
        ["init", str(place), *options],
        ["predict", str(place), "--nodes", "n200"],
        ["explain", str(place), "n200"],
        ["sync", str(place), *options[:2]],
    ):
        done = CliRunner().invoke(app, line)
        assert done.exit_code == 0, done.output
    with Store.open(place) as store:
        state = store.state()
        assert accuracy(state.model.predict(state.graph, KEYS)) > 0.8


@pytest.fixture(scope="module")
def store_of_edges(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("edges") / "store"
    options = [f"--{name}={file}" for name, file in files.items()]
    done = CliRunner().invoke(app, ["init", str(place), *options, "--no-features"])
    assert done.exit_code == 0, done.output
    return place


def test_suggestions_need_no_features(
    store_of_edges: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = CliRunner().invoke(app, ["suggest", str(store_of_edges), "--count", "5"])
    assert done.exit_code == 0, done.output
    # All nodes pass for nodes of unknown classes, so that groups of them are looked for.
    monkeypatch.setattr("nodegraft.analysis.suggestions.UNKNOWN", 2.0)
    with Store.open(store_of_edges) as store:
        nodes = [one.node for one in store.suggest(5)]
        groups = store.suggest_classes(9)
    assert len(set(nodes)) == 5
    for group in groups:
        assert len({BLOCK[KEYS.index(str(key))] for key in group.examples}) == 1


def test_a_map_needs_no_features(store_of_edges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "NODES", 200)
    with Store.open(store_of_edges) as store:
        state = store.state()
        found = node_map(state)
        assert with_more(state, found).rows.size > found.rows.size
    gaps = np.linalg.norm(found.places[:, None] - found.places[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    blocks = BLOCK[found.rows]
    # Chance is 0.2.
    assert (blocks[gaps.argmin(axis=1)] == blocks).mean() > 0.6


def test_routes_of_suggestions_and_map_need_no_features(store_of_edges: Path) -> None:
    with asked(store_of_edges) as client:
        for route in ("/v1/suggest?count=3", "/v1/map"):
            answer = client.get(route)
            assert answer.status_code == 200, answer.text


def test_other_columns_are_left_out_only_on_request() -> None:
    nodes = pa.table({"key": ["a", "b"], "label": ["x", "y"]})
    with pytest.raises(DataError, match=r"has no column 'features'.*features=None"):
        read_tables(nodes)
    assert read_tables(nodes, features=None).graph.num_features == 0
