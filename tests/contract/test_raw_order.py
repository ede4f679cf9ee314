"""Accuracy is the same whatever the order of rows in the raw files."""

import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.evaluation.protocol import evaluate
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.lab.datasets.synthetic import Synthetic
from nodegraft.streams.stream import ClassStream
from tests.contract.streams import quick

SHUFFLES = 10


@pytest.mark.parametrize("name", ["graft", "sgc-mean", "hag-meta"])
def test_ten_raw_orders_give_the_same_accuracy(name: str) -> None:
    loaded = Synthetic(nodes=300, classes=12, homophily=0.5, signal=1.5).load()

    def recalls(order: NDArray[np.int64]) -> list[dict[str, float]]:
        place = np.argsort(order)
        labels = NodeLabels({name: place[rows] for name, rows in loaded.labels.items()})
        graph = loaded.graph
        ends = np.stack(graph.edges(), axis=1)
        shuffled = Graph(order, graph.features(order), ends)
        stream = ClassStream.draw(shuffled, labels, loaded.setting)
        return [session.recall for session in evaluate(quick(name), stream).sessions]

    first = recalls(np.arange(loaded.graph.num_nodes))
    assert 0.0 < np.mean(list(first[-1].values())) < 1.0
    for seed in range(SHUFFLES):
        order = np.random.default_rng(seed).permutation(loaded.graph.num_nodes)
        assert recalls(order) == first
