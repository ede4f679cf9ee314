"""Graft's regression on neighbours by edge type and direction."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.base.errors import CheckpointError
from nodegraft.evaluation.protocol import evaluate
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.propagation.spread import SpreadFeatures
from nodegraft.graph.propagation.typed_blocks import typed_blocks
from nodegraft.methods.graft import Graft
from nodegraft.methods.graft.evidence import REGRESSIONS, Evidence
from nodegraft.methods.graft.signals import FLOOR
from nodegraft.streams.setting import Setting
from nodegraft.streams.stream import ClassStream
from tests.graph.reference import dense

CLASSES, SIZE, WORDS = 9, 60, 40
NAMES = [f"c{number}" for number in range(CLASSES)]


def roles(sparse: bool = True, seed: int = 0) -> tuple[Graph, NodeLabels]:
    """A node's class is told by which words the nodes have that it points to, and by which type.

    No edge joins nodes of one class; a node's own words are noise. Nodes without a class have the
    words. Three sorts of words, met by "head" or by "next" or not at all, make nine classes.
    """
    draws = np.random.default_rng(seed)
    plain = 120
    owner = np.repeat(np.arange(CLASSES), SIZE)
    sort = np.arange(plain) % 3
    words = draws.poisson(0.3, (owner.size + plain, WORDS)).astype(np.float32)
    for number in range(3):
        chosen = owner.size + np.flatnonzero(sort == number)
        words[np.ix_(chosen, np.arange(8 * number, 8 * number + 8))] += 1.0
    edges = {}
    for name, wanted in (("head", owner // 3), ("next", owner % 3)):
        source = np.repeat(np.arange(owner.size), 2)
        target = 3 * draws.integers(plain // 3, size=source.size) + np.repeat(wanted, 2)
        pairs = np.stack((source, owner.size + target), axis=1)
        edges[name] = Relation(pairs, directed=True)
    features: Any = csr_array(words) if sparse else words
    labels = {name: np.flatnonzero(owner == number) for number, name in enumerate(NAMES)}
    return Graph(range(len(words)), features, edges), NodeLabels(labels)


def fitted(sparse: bool = True, **parameters: Any) -> tuple[Graft, Graph, NodeLabels]:
    graph, labels = roles(sparse)
    base = {name: graph.keys_of(labels[name][:30]) for name in NAMES[:7]}
    model = Graft(**parameters).fit(graph, base)
    model.add_classes(graph, {name: graph.keys_of(labels[name][:5]) for name in NAMES[7:]})
    return model, graph, labels


@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
def test_learns_what_neighbours_of_other_classes_say(sparse: bool) -> None:
    graph, labels = roles(sparse)
    setting = Setting(base=4, pseudo_novel=3, validation=0, novel=2, ways=1, shots=5)
    stream = ClassStream.draw(graph, labels, setting, arrival="present")
    typed, plain = (
        evaluate(Graft(typed_blocks=given), stream).summary["last_accuracy"]
        for given in (True, False)
    )
    assert typed > plain + 0.1


def test_is_left_out_where_it_does_not_help() -> None:
    model, *_ = fitted()
    assert model.block_types_ == {"head": True, "next": True}
    graph, labels = roles()
    one_type = Graph(graph.rows, graph.features(graph.rows), np.stack(graph.edges(), axis=1))
    base = {name: labels[name][:30] for name in NAMES[:7]}
    assert Graft().fit(one_type, base).block_types_ == {}
    draws = np.random.default_rng(1)
    shuffled = {
        name: Relation(draws.integers(graph.num_nodes, size=(500, 2)), directed=True)
        for name in graph.relations
    }
    noise = Graph(graph.rows, graph.features(graph.rows), shuffled)
    assert Graft().fit(noise, base).block_types_ == {}
    assert fitted(practise=False)[0].block_types_ == {}


@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
def test_weights_are_those_of_a_dense_ridge(sparse: bool) -> None:
    graph, labels = roles(sparse)
    blocks = typed_blocks({"head": True, "next": True})
    features = SpreadFeatures(graph, 0, np.ones(WORDS, np.float32), blocks=blocks)
    evidence = Evidence(features, np.zeros((0, WORDS)), ())
    shown = [labels[name][:9] for name in NAMES]
    classes = evidence.labelled(shown, np.full(CLASSES, 9), first=np.arange(8))
    vectors = evidence.class_vectors(classes)
    nodes = evidence.nodes(graph.rows)
    (signal,) = (one for one in evidence.signals if one.kind == "edge types")
    layers = [dense(one) for one in features.formed(graph.rows, features.block_layers)]
    rows = np.hstack(layers) / np.sqrt(5)
    examples = rows[np.concatenate(shown[:8])]
    penalty = REGRESSIONS["edge types"] * np.eye(rows.shape[1])
    inverse = np.linalg.inv(examples.T @ examples / 9 + penalty)
    first = inverse @ examples.T @ np.repeat(np.eye(8), 9, axis=0) / 9
    mean = rows[shown[8]].mean(axis=0)
    joined = inverse @ mean / (1 + mean @ inverse @ mean)
    expected = rows @ np.column_stack((first, joined))
    some = vectors.of(np.array([8, 2]))
    for found, columns in ((vectors, np.arange(CLASSES)), (some, [8, 2])):
        own = found.vectors["edge types"]
        scores = sum(map(nodes.features.times, own, own.values()))
        np.testing.assert_allclose(scores, expected[:, columns], atol=1e-5)
        logs = np.log(np.maximum(scores, 0.0) + FLOOR)
        np.testing.assert_allclose(signal.values(nodes, found), logs, atol=1e-9)
    assert some.hashes() == [vectors.hashes()[column] for column in (8, 2)]


@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
def test_scores_are_the_sum_of_the_signals(sparse: bool, tmp_path: Path) -> None:
    model, graph, _ = fitted(sparse)
    assert model.block_types_
    why = model.explain(graph, 3)
    scores = model.score_rows(graph, graph.rows)
    assert sum(part["for"] for part in why["signals"]) == pytest.approx(scores[3].max(), abs=1e-5)
    assert "regression by edge type" in [one["signal"] for one in why["signals"]]
    model.save(tmp_path / "model")
    loaded = Graft.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.score_rows(graph, graph.rows), scores)


def test_follows_a_graph_that_grows_or_loses_an_edge_type() -> None:
    model, graph, _ = fitted()
    scores = model.score_rows(graph, graph.rows)
    more = Relation(np.array([[0, 600], [1, 601], [700, 602]]), directed=True)
    words = csr_array(np.ones((1, WORDS), dtype=np.float32))
    grown = graph.grow([700], words, {"head": more})
    after = model.score_rows(grown, grown.rows)
    fresh = fitted()[0].score_rows(grown, grown.rows)
    np.testing.assert_allclose(after, fresh, atol=1e-6)
    assert abs(after[:2] - scores[:2]).max() > 1e-3
    left = Graph(
        graph.rows,
        graph.features(graph.rows),
        {"head": Relation(np.stack(graph.edges_of("head")[:2], axis=1), directed=True)},
    )
    assert np.isfinite(model.score_rows(left, left.rows)).all()


def with_edges(graph: Graph, edges: dict[str, Relation]) -> Graph:
    return Graph(graph.rows, graph.features(graph.rows), edges)


def pairs(graph: Graph, name: str) -> Any:
    """Edges of a type by their true directions: from nodes with a class to those without."""
    return np.sort(np.stack(graph.edges_of(name)[:2], axis=1), axis=1)


def directed(graph: Graph) -> dict[str, Relation]:
    return {name: Relation(pairs(graph, name), directed=True) for name in graph.relations}


def test_hidden_edges_of_another_type_change_nothing() -> None:
    graph, labels = roles()
    seen = graph.rows[:-2]
    hidden = directed(graph) | {"other": Relation(graph.rows[None, -2:], directed=True)}
    base = {name: labels[name][:30] for name in NAMES[:7]}
    scores = []
    for one in (with_edges(graph, directed(graph)), with_edges(graph, hidden)):
        view = one.view(seen)
        model = Graft().fit(view, base)
        assert list(model.block_types_) == ["head", "next"]
        scores.append(model.score_rows(view, seen))
    np.testing.assert_array_equal(scores[0], scores[1])


def test_an_edge_type_that_loses_its_directions_still_tells() -> None:
    model, graph, labels = fitted()
    plain = with_edges(graph, {name: Relation(pairs(graph, name)) for name in graph.relations})
    rows, right = labels.rows(), labels.targets(list(model.classes_))
    assert (model.score_rows(graph, rows).argmax(1) == right).mean() > 0.9
    assert (model.score_rows(plain, rows).argmax(1) == right).mean() > 0.7


@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
def test_very_large_weights_of_edges_do_not_overflow(sparse: bool) -> None:
    graph, labels = roles(sparse)
    heavy = {
        name: Relation(pairs(graph, name), np.full(len(pairs(graph, name)), 3e38), directed=True)
        for name in graph.relations
    }
    base = {name: labels[name][:30] for name in NAMES[:7]}
    model = Graft().fit(with_edges(graph, heavy), base)
    assert model.block_types_
    assert np.isfinite(model.score_rows(graph, graph.rows)).all()


def test_a_saved_model_with_a_weight_too_few_is_refused(tmp_path: Path) -> None:
    model, *_ = fitted()
    model.block_types_ = {}
    model.save(tmp_path / "model")
    with pytest.raises(CheckpointError, match="weights"):
        Graft.load(tmp_path / "model")
