import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.graph.labels import Labelled
from nodegraft.memory.class_sums import ClassSums, lowest_hashes

LABELS = Labelled({"a": [5, 3, 8], "b": [1]})
VECTORS = np.random.default_rng(0).uniform(-1, 1, (4, 6)) * (np.arange(6) % 2)


def equal(first: ClassSums, second: ClassSums) -> bool:
    pairs = zip(first.to_tensors().items(), second.to_tensors().items(), strict=True)
    return all(
        one == other and left.dtype == right.dtype and left.equal(right)
        for (one, left), (other, right) in pairs
    )


def test_sparse_and_dense_vectors_are_kept_alike() -> None:
    thin = ClassSums.of(csr_array(VECTORS), LABELS, limit=9)
    wide = ClassSums.of(VECTORS, LABELS, limit=9)
    assert equal(thin, wide)
    expected = [VECTORS[:3].mean(axis=0), VECTORS[3]]
    np.testing.assert_allclose(wide.means, expected, atol=1e-9)


def test_survives_being_saved_even_empty() -> None:
    sums = ClassSums.of(VECTORS, LABELS, limit=9)
    for one in (sums, sums.take(np.array([1])), sums.take(np.zeros(0, dtype=np.int64))):
        assert equal(one, ClassSums.from_tensors(one.to_tensors()))
        assert len(ClassSums.from_tensors(one.to_tensors()).rows) == one.counts.size


def test_a_million_halves_are_half_a_million() -> None:
    """Where single precision would have stopped counting."""
    rows = np.arange(1_000_000)
    sums = ClassSums.of(np.full((rows.size, 1), 0.5), Labelled({"a": rows}), limit=5)
    one = ClassSums.of(np.full((1, 1), 2.0**-30), Labelled({"a": [rows.size]}), limit=5)
    total = (sums + one).means[0, 0] * (rows.size + 1)
    assert total == pytest.approx(500_000 + 2.0**-30, abs=1e-10)
    assert sums.rows[0].size == 5


def test_the_same_node_does_not_count_twice() -> None:
    sums = ClassSums.of(VECTORS, LABELS, limit=9)
    with pytest.raises(DataError, match="4 of the nodes"):
        sums + sums


def test_remembered_nodes_are_a_fair_sample() -> None:
    """Runs of a thousand nodes: each tenth of them is met about as often."""
    met = np.concatenate(
        [
            lowest_hashes(np.arange(start, start + 1000), 100) - start
            for start in range(0, 10**5, 1000)
        ]
    )
    shares = np.bincount(met // 100, minlength=10) / met.size
    assert np.abs(shares - 0.1).max() < 0.02
