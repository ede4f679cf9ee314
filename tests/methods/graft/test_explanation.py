import numpy as np
import pytest

from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.graph.propagation import diffusion
from nodegraft.graph.propagation.spread import SpreadFeatures
from nodegraft.methods.graft.evidence import Evidence
from nodegraft.methods.graft.explanation import diffusion_by_label
from nodegraft.methods.graft.scoring import Derivation, Scoring
from nodegraft.methods.graft.signals import FLOOR, TIMES
from tests.graph.reference import Dense, random_graph, typed_graph

LABELS = np.array([0, 1, 2, 3, 5, 8, 38])
"""The last one is isolated."""

WORTH = {"plain": 0.5, "heavy": 3.0, "told": 0.1}


def star() -> Graph:
    """Node 4 beside a hub with 20 leaves and beside a node with one more neighbour."""
    edges = [(0, 4), (1, 4), (1, 2), *((0, leaf) for leaf in range(10, 30))]
    return Graph(range(40), np.eye(40), Relation(np.array(edges)))


GRAPHS = {
    "plain": random_graph(edges=120),
    "weighted": typed_graph().weighing(WORTH),
    "star": star(),
}


def by_one_diffusion_per_label(evidence: Evidence, weights: Dense, row: int) -> Dense:
    """Return what the labels gave: the gain of each time by what came from each of them alone."""
    place = evidence.view.positions(np.array([row]))
    alone = evidence.view.diffusion(list(LABELS[:, None]), TIMES).at(place)[:, :, 0].astype(float)
    together = evidence.view.diffused([LABELS], np.array([row]), TIMES)[:, 0, 0]
    gains = weights[: len(TIMES)] * (np.log(together + FLOOR) - np.log(FLOOR))
    return np.asarray((alone / np.maximum(alone.sum(axis=0), 1e-12)) @ gains)


@pytest.mark.parametrize("row", [4, 6, 21, 39])
@pytest.mark.parametrize("graph", GRAPHS)
def test_labels_give_what_one_diffusion_per_label_says(
    graph: str, row: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Below rounding: in both directions heat is that of the formula.
    monkeypatch.setattr(diffusion, "TOLERANCE", 1e-9)
    view = GRAPHS[graph]
    features = SpreadFeatures(view, 1, np.ones(view.num_features, dtype=np.float32))
    evidence = Evidence(features, np.zeros((0, view.num_features)), TIMES)
    classes = evidence.labelled([LABELS[:1], LABELS], np.array([1, LABELS.size]), np.arange(2))
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(evidence.signals))
    scoring = Scoring(evidence, evidence.class_vectors(classes), weights)
    made = Derivation(evidence, classes, np.arange(2), scoring, np.ones(2), 0.5)
    expected = by_one_diffusion_per_label(evidence, weights, row)
    assert (expected.sum() == 0.0) == (row == 39 or (graph == "star" and row == 6))
    found = diffusion_by_label(made, row, 1)
    np.testing.assert_allclose(found, expected, atol=1e-4)
