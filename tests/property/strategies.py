"""Values drawn by hypothesis."""

from typing import Any

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.setting import Setting
from tests.slow_suite import examples

thorough = settings(max_examples=examples(1000, 100), deadline=None, derandomize=True)

Edges = tuple[IntArray, IntArray, int]


@st.composite
def edges(draw: st.DrawFn, smallest: int = 0) -> Edges:
    """Ends in any order, with loops and repetitions, and how many nodes there are."""
    nodes = draw(st.integers(smallest, 12))
    node = st.integers(0, max(nodes - 1, 0))
    pairs = draw(st.lists(st.tuples(node, node), max_size=30 if nodes else 0))
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1], nodes


@st.composite
def some_of(draw: st.DrawFn, nodes: int, smallest: int = 0) -> IntArray:
    """A few of so many nodes, each once, ascending."""
    if nodes == 0:
        return np.zeros(0, dtype=np.int64)
    chosen = draw(st.sets(st.integers(0, nodes - 1), min_size=smallest))
    return np.array(sorted(chosen), dtype=np.int64)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Small whole numbers for features, dense or sparse."""
    source, target, nodes = draw(edges(smallest=4))
    columns = draw(st.integers(1, 4))
    row = st.lists(st.integers(-3, 3), min_size=columns, max_size=columns)
    values = np.array(draw(st.lists(row, min_size=nodes, max_size=nodes)), dtype=np.float32)
    features = csr_array(values) if draw(st.booleans()) else values
    adjacency = Adjacency.from_edges(source, target, nodes)
    return Graph.from_parts(NodeKeys(np.arange(nodes)), features, adjacency)


@st.composite
def labelled_settings(draw: st.DrawFn) -> tuple[NodeLabels, Setting]:
    """Classes large enough to split, at least as many as the setting needs."""
    shots = draw(st.integers(1, 5))
    setting = Setting(
        base=draw(st.integers(1, 3)),
        pseudo_novel=draw(st.integers(0, 3)),
        validation=draw(st.integers(0, 3)),
        novel=draw(st.integers(0, 3)),
        ways=draw(st.integers(1, 3)),
        shots=shots,
    )
    count = setting.classes + draw(st.integers(0, 2))
    large_enough = st.integers(max(5, shots + 1), 30)
    sizes = draw(st.lists(large_enough, min_size=count, max_size=count))
    rows = np.array(draw(st.permutations(range(sum(sizes)))))
    parts = np.split(rows, np.cumsum(sizes)[:-1])
    return NodeLabels({f"class {i}": part for i, part in enumerate(parts)}), setting


keys = st.one_of(
    st.lists(st.text(max_size=5), unique=True, max_size=20),
    st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, max_size=20),
)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@st.composite
def arrays(draw: st.DrawFn) -> "np.ndarray[Any, Any]":
    """Any shape, zero-dimensional and empty ones included, of any type a model may keep."""
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    kind = draw(
        st.sampled_from(
            ["bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64"]
        )
    )
    values = draw(
        st.lists(st.integers(0, 100), min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))
    )
    return np.array(values).reshape(shape).astype(kind)


tensors = arrays().map(torch.from_numpy)
names = st.text("abc", min_size=1, max_size=4).map(lambda name: name + "_")
states = st.dictionaries(
    names,
    st.one_of(
        arrays(),
        tensors,
        st.dictionaries(st.text("xy.0", min_size=1, max_size=4), tensors, min_size=1, max_size=3),
        json_values,
    ),
    max_size=4,
)
