import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.growth.stacked import StackedRows, holds_sparse, in_one_piece, some_rows
from tests.graph.reference import dense

ROWS = np.arange(120, dtype=np.float32).reshape(40, 3) % 7


def stack(sparse: bool) -> StackedRows:
    parts: list[Matrix] = [csr_array(one) if sparse else one for one in np.split(ROWS, [30, 35])]
    return StackedRows((parts[0],)).with_rows(parts[1]).with_rows(parts[2])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "asked", [[], [0], [39, 2, 2, 31, 36], [31, 30], [29, 30, 0, 28], [38, 39, 29, 36]]
)
def test_rows_are_those_of_one_matrix(sparse: bool, asked: list[int]) -> None:
    rows = np.array(asked, dtype=np.int64)
    found = some_rows(stack(sparse), rows)
    assert np.array_equal(dense(found), ROWS[rows])
    assert found.dtype == np.float32
    assert holds_sparse(stack(sparse)) == sparse
    assert np.array_equal(dense(in_one_piece(stack(sparse))), ROWS)


def test_a_part_may_be_empty() -> None:
    stacked = StackedRows((ROWS[:0], ROWS[:30], ROWS[30:]))
    assert np.array_equal(dense(stacked.take(np.array([31, 2, 39]))), ROWS[[31, 2, 39]])


def test_what_was_there_is_not_copied() -> None:
    stacked = StackedRows((ROWS,)).with_rows(ROWS[:1])
    assert stacked.parts[0] is ROWS
    assert stacked.with_rows(ROWS[:2]).parts[0] is ROWS
    assert stacked.shape == (41, 3)


def test_parts_stay_few() -> None:
    stacked = StackedRows((ROWS,))
    for _ in range(500):
        stacked = stacked.with_rows(ROWS[:1])
        assert len(stacked.parts) <= 6
    assert stacked.shape[0] == 540
