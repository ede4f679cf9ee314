from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key, NodeKeys
from nodegraft.tables.storage import load_graph, save_graph
from tests.property.strategies import keys, thorough


@thorough
@given(keys, st.randoms(use_true_random=False))
def test_keys_and_rows_are_two_names_of_a_node(drawn: list[Key], random: Random) -> None:
    node_keys = NodeKeys(drawn)
    shuffled = random.sample(drawn, len(drawn))
    assert node_keys.at(node_keys.rows(shuffled)) == shuffled
    assert node_keys.rows(drawn).tolist() == list(range(len(drawn)))


@thorough
@given(keys, keys)
def test_membership_is_that_of_a_set(drawn: list[Key], asked: list[Key]) -> None:
    assert (NodeKeys(drawn).find(asked) >= 0).tolist() == [key in drawn for key in asked]


@thorough
@given(keys)
def test_keys_come_back_from_disk(drawn: list[Key]) -> None:
    graph = Graph(drawn, np.zeros((len(drawn), 1)))
    with TemporaryDirectory() as folder:
        save_graph(graph, Path(folder) / "graph")
        back = load_graph(Path(folder) / "graph")
    assert back.keys_of(range(len(drawn))) == drawn
    assert back.content_hash == graph.content_hash
