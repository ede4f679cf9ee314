"""The inputs of encoders: columns weighted by inverse document frequency."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.edges.matrix import weigh_columns
from nodegraft.graph.graph import Graph
from nodegraft.graph.statistics import column_rarity
from nodegraft.methods.templates.pretrained import Pretrained
from nodegraft.model.registry import REGISTRY, load_model

SHORT = {"max_epochs": 3, "episodes": 2, "steps": 3, "hidden": 8, "out": 4, "inner_steps": 1}

METHODS = sorted(name for name in REGISTRY.names() if issubclass(REGISTRY.get(name), Pretrained))


def lesson() -> tuple[Graph, dict[str, Any], dict[str, Any]]:
    graph, labels = BlockModel(nodes=160, classes=5, sparse=True, features=30).draw()
    names = labels.classes
    taught = {name: graph.keys_of(labels[name][:12]) for name in names}
    known = {name: taught[name] for name in names[:4]}
    return graph, known, {names[4]: taught[names[4]][:4]}


def scores(name: str, idf: bool, graph: Graph, place: Path | None = None) -> Any:
    _, known, new = lesson()
    make: Any = REGISTRY.get(name)
    values = {key: value for key, value in SHORT.items() if key in make().get_params()}
    model = make(idf=idf, **values).fit(graph, known)
    model.add_classes(graph, new)
    if place is not None:
        model.save(place)
        model = load_model(place)
    return model.score_rows(graph, np.arange(graph.num_nodes))


@pytest.mark.parametrize("name", METHODS)
def test_idf_is_the_same_as_weighted_features(name: str, tmp_path: Path) -> None:
    graph, _, _ = lesson()
    rows = np.arange(graph.num_nodes)
    rarity = column_rarity(graph)
    assert rarity.std() > 0.1
    weighted = weigh_columns(graph.features(rows), rarity / rarity.mean())
    other = graph.with_features(csr_array(weighted))
    expected = scores(name, False, other)
    assert np.abs(expected - scores(name, False, graph)).max() > 1e-3
    found = scores(name, True, graph, tmp_path / "model")
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
