import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.memory.class_sums import ClassSums

COUNTS = np.array([3, 1])
VECTORS = np.random.default_rng(0).uniform(-1, 1, (4, 6)) * (np.arange(6) % 2)


def equal(first: ClassSums, second: ClassSums) -> bool:
    pairs = zip(first.to_tensors().items(), second.to_tensors().items(), strict=True)
    return all(
        one == other and left.dtype == right.dtype and left.equal(right)
        for (one, left), (other, right) in pairs
    )


def test_sparse_and_dense_vectors_are_kept_alike() -> None:
    thin, wide = ClassSums.of(csr_array(VECTORS), COUNTS), ClassSums.of(VECTORS, COUNTS)
    assert equal(thin, wide)
    expected = [VECTORS[:3].mean(axis=0), VECTORS[3]]
    np.testing.assert_allclose(wide.means, expected, atol=1e-9)


def test_survives_being_saved_even_empty() -> None:
    sums = ClassSums.of(VECTORS, COUNTS)
    for one in (sums, sums.take(np.array([1])), sums.take(np.zeros(0, dtype=np.int64))):
        assert equal(one, ClassSums.from_tensors(one.to_tensors()))


def test_a_million_halves_are_half_a_million() -> None:
    """Where single precision would have stopped counting."""
    count = 1_000_000
    sums = ClassSums.of(np.full((count, 1), 0.5), np.array([count]))
    one = ClassSums.of(np.full((1, 1), 2.0**-30), np.array([1]))
    total = (sums + one).means[0, 0] * (count + 1)
    assert total == pytest.approx(500_000 + 2.0**-30, abs=1e-10)
