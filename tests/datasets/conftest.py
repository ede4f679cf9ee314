"""What the tests of the datasets share."""

import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodegraft.datasets.base import LoadedDataset

QUANTILES = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1]


@pytest.fixture
def write_xz() -> Callable[[Path, str], Path]:
    """Write a small compressed file, its folder included."""

    def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        with lzma.open(path, "wt", encoding=encoding) as file:
            file.write(text)
        return path

    return write


@pytest.fixture
def statistics() -> Callable[[LoadedDataset], dict[str, Any]]:
    """The numbers that the README of every data folder states."""

    def measure(loaded: LoadedDataset) -> dict[str, Any]:
        graph = loaded.graph
        degrees = graph.degrees(np.arange(graph.num_nodes))
        column = np.full(graph.num_nodes, -1)
        column[loaded.labels.rows()] = loaded.labels.targets(loaded.labels.classes)
        source, target = graph.edges()
        return {
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "classes": len(loaded.labels),
            "isolated": int((degrees == 0).sum()),
            "degrees": np.quantile(degrees, QUANTILES, method="lower").tolist(),
            "homophily": round(float((column[source] == column[target]).mean()), 3),
        }

    return measure
