"""Raw files of PyG's own datasets, read by PyG's own code, without a download."""

import contextlib
import io
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys

if TYPE_CHECKING:
    from torch_geometric.data import Data


def read_raw(files: Iterable[Path], folder: str, make: Callable[[str], Any]) -> "Data":
    """What ``make(root)`` gives for a root whose ``folder`` holds links to the files.

    PyG writes what it has processed beside the raw files, and the user's folder may be
    read-only; so it works in a folder of its own, which is gone afterwards.

    Args:
        folder: Where PyG looks for them, below its root.
    """
    with tempfile.TemporaryDirectory(prefix="nodegraft-") as root:
        raw = Path(root, folder)
        raw.mkdir(parents=True)
        for path in files:
            (raw / path.name).symlink_to(path.resolve())
        # PyG tells its progress on standard error; a library keeps quiet.
        with contextlib.redirect_stderr(io.StringIO()):
            return make(root)[0]


def numbered_graph(data: "Data", features: Matrix) -> Graph:
    """The graph of a PyG ``Data`` with row numbers for keys."""
    source, target = data.edge_index.numpy()
    count = features.shape[0]
    adjacency = Adjacency.from_edges(source, target, count)
    return Graph.from_parts(NodeKeys(np.arange(count)), features, adjacency)
