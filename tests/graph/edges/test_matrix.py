import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.graph.edges.matrix import (
    Matrix,
    gram,
    index_type,
    nbytes,
    normalise_rows,
    row_norms,
    take_rows,
)
from tests.graph.reference import dense

ROWS = np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0], [1.0, 2.0, 2.0]], dtype=np.float32)

both = pytest.mark.parametrize("matrix", [ROWS, csr_array(ROWS)], ids=["dense", "sparse"])


@both
def test_norms_and_rows_of_length_one(matrix: Matrix) -> None:
    assert row_norms(matrix).tolist() == [5.0, 0.0, 3.0]
    expected = ROWS / np.array([[5], [1], [3]], dtype=np.float32)
    np.testing.assert_allclose(dense(normalise_rows(matrix)), expected, rtol=1e-6)


@both
def test_rows_are_taken_in_the_order_asked(matrix: Matrix) -> None:
    assert dense(take_rows(matrix, np.array([2, 0, 2]))).tolist() == ROWS[[2, 0, 2]].tolist()


def test_half_precision_is_summed_in_double() -> None:
    long = np.full((1, 70_000), 1.0, dtype=np.float16)
    assert row_norms(long)[0] == pytest.approx(70_000**0.5)
    assert take_rows(long, np.array([0])).dtype == np.float32


def test_bytes_are_those_of_the_arrays() -> None:
    assert nbytes(ROWS) == 36
    assert nbytes(csr_array(ROWS)) == 5 * 4 + 5 * 4 + 4 * 4


def test_indices_widen_only_beyond_32_bits() -> None:
    assert index_type(2**31 - 1) is np.int32
    assert index_type(2**31) is np.int64


def test_inner_products_are_the_same_whether_columns_are_common_or_rare() -> None:
    draws = np.random.default_rng(0)
    common, rare = (
        draws.random((200, 8)),
        draws.random((200, 60)) * (draws.random((200, 60)) < 0.02),
    )
    rows = np.concatenate((common, rare), axis=1).astype(np.float32)
    wanted = rows.astype(np.float64) @ rows.astype(np.float64).T
    assert np.allclose(gram(csr_array(rows)), wanted, rtol=0, atol=1e-12)
    assert np.allclose(gram(rows), wanted, rtol=0, atol=1e-12)
    assert not gram(csr_array((3, 0), dtype=np.float32)).any()
