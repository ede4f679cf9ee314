"""Models that were trained on a part of a graph answer about all of it, which lies on disk."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodegraft.base.errors import DataError, ParameterError
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.templates.pretrained import Pretrained, encode_for
from nodegraft.model.method import Method
from nodegraft.model.registry import list_methods, load_model, make_method
from nodegraft.tables.disk.save import save_mapped

QUICK: dict[str, Any] = {
    "max_epochs": 3,
    "episodes": 2,
    "steps": 2,
    "adapt_steps": 1,
    "inner_steps": 1,
    "test_steps": 2,
    "last_relu": True,
}
NETWORKS = [name for name in list_methods() if isinstance(make_method(name), Pretrained)]


def quick(name: str) -> Method:
    """Hardly trained."""
    known = {field.name for field in fields(make_method(name))}
    return make_method(name, **{one: value for one, value in QUICK.items() if one in known})


def drawn(sparse: bool = False) -> tuple[Graph, NodeLabels]:
    return BlockModel(nodes=600, classes=6, features=20, sparse=sparse, signal=3.0).draw()


def trained(name: str, graph: Graph, labels: NodeLabels, folder: Path) -> Method:
    """On every third node alone; saved, and loaded again."""
    part = np.arange(0, graph.num_nodes, 3)
    known = {name: graph.keys_of(np.intersect1d(rows, part)) for name, rows in labels.items()}
    model = quick(name).fit(graph.view(part), known)
    model.save(folder)
    return load_model(folder)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "proto-gat"])
def test_scores_are_those_of_the_graph_in_memory(
    name: str, sparse: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, labels = drawn(sparse)
    model = trained(name, graph, labels, tmp_path / "model")
    truth, asked = model.score_rows(graph, graph.rows), np.array([599, 3, 77, 3])
    mapped = save_mapped(graph, tmp_path / "graph")
    assert encode_for(model, mapped).computed
    assert not encode_for(model, mapped).computed
    # From here on nobody looks at a neighbour.
    monkeypatch.setattr(GraphView, "around", None)
    scores = model.score_rows(mapped, mapped.rows)
    np.testing.assert_allclose(scores, truth, rtol=1e-6, atol=1e-6 * np.abs(truth).max())
    np.testing.assert_allclose(model.score_rows(mapped, asked), scores[asked], rtol=1e-6)
    (answers,) = model.predict_all(mapped)
    np.testing.assert_array_equal(answers.columns[:, 0], scores.argmax(axis=1))


def test_weights_that_changed_are_not_looked_up(tmp_path: Path) -> None:
    graph, labels = drawn()
    model = trained("hag-meta", graph, labels, tmp_path / "model")
    mapped, gone = save_mapped(graph, tmp_path / "graph"), labels.classes[0]
    supports = graph.keys_of(labels[gone][:3])
    model.remove_classes([gone])
    encode_for(model, mapped)
    model.add_classes(mapped, {gone: supports})
    grown = model.score_rows(mapped, mapped.rows)
    np.testing.assert_allclose(grown, model.score_rows(graph, graph.rows), rtol=1e-6, atol=1e-6)
    assert encode_for(model, mapped).computed


def test_a_graph_that_has_grown_answers_from_its_neighbourhoods(tmp_path: Path) -> None:
    graph, labels = drawn()
    model = trained("proto-gcn", graph, labels, tmp_path / "model")
    mapped = save_mapped(graph, tmp_path / "graph")
    encode_for(model, mapped)
    more = [one.grow(edges=[(0, 300), (1, 300)]) for one in (graph, mapped)]
    truth, scores = (model.score_rows(one, one.rows) for one in more)
    np.testing.assert_allclose(scores, truth, rtol=1e-6, atol=1e-6)
    assert not np.allclose(truth[300], model.score_rows(graph, np.array([300])))


def test_what_cannot_be_worked_out_in_blocks_is_refused(tmp_path: Path) -> None:
    graph, labels = drawn()
    mapped = save_mapped(graph, tmp_path / "graph")
    attention = trained("proto-gat", graph, labels, tmp_path / "attention")
    with pytest.raises(ParameterError, match="proto-gat weigh each pair"):
        encode_for(attention, mapped)
    means = make_method("sgc-mean").fit(graph, labels)
    with pytest.raises(ParameterError, match="sgc-mean has no trained encoder"):
        encode_for(means, mapped)
    model = trained("proto-gcn", graph, labels, tmp_path / "model")
    with pytest.raises(ParameterError, match="in a folder"):
        encode_for(model, graph)
    with pytest.raises(DataError):
        encode_for(model, BlockModel(nodes=60, classes=4, features=21).draw()[0])
