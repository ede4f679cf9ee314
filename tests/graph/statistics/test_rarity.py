import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.graph import statistics
from nodegraft.graph.graph import Graph
from nodegraft.graph.statistics import column_rarity, summarise_columns

COUNTS = np.array([[1, 0, 2], [5, 0, 0], [0, 0, 1], [9, 9, 9]])


@pytest.mark.parametrize("block", [1, 2, 65_536])
def test_rarity_counts_visible_nodes(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "BLOCK_ROWS", block)
    graph = Graph(range(4), csr_array(COUNTS))
    seen = column_rarity(graph.view(np.array([0, 1, 2])))
    # Of three visible nodes two, none and two have each word.
    expected = np.log(4 / np.array([3, 1, 3])) + 1
    np.testing.assert_array_equal(seen, expected.astype(np.float32))
    everyone = np.log(5 / np.array([4, 2, 4])) + 1
    np.testing.assert_array_equal(column_rarity(graph), everyone.astype(np.float32))


def test_entries_that_are_stored_as_zero_are_absent() -> None:
    stored = csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
    assert column_rarity(Graph(["a", "b"], stored))[0] == np.float32(np.log(3) + 1)


def test_dense_columns_are_all_alike() -> None:
    assert column_rarity(Graph(range(4), COUNTS)).tolist() == [1, 1, 1]


def test_counts_are_sparse_and_never_negative() -> None:
    stored = csr_array(np.array([[1.0, 0.0], [0.0, 2.0]]))
    assert summarise_columns(Graph(["a", "b"], stored)).are_counts
    assert not summarise_columns(Graph(["a", "b"], -stored)).are_counts
    assert not summarise_columns(Graph(["a", "b"], stored.toarray())).are_counts
