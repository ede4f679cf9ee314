import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.lab.datasets.templates.readers import read_counts, weighted_counts


def test_a_row_a_text() -> None:
    counts = read_counts(["3:1 0:12\n", "", "3:2"], 4)
    assert counts.toarray().tolist() == [[12, 0, 0, 1], [0] * 4, [0, 0, 0, 2]]


def test_no_texts_are_no_rows() -> None:
    assert read_counts([], 4).shape == (0, 4)


@pytest.mark.parametrize("pair", ["3", "3:", "a:1", "1:-1", "1:1:1"])
def test_what_is_no_pair_is_named(pair: str) -> None:
    with pytest.raises(DataError, match=f"'{pair}' is no column:count pair"):
        read_counts(["0:1 " + pair], 4)


@pytest.mark.parametrize("pair", ["4:1", "0:0"])
def test_counts_of_other_words_are_refused(pair: str) -> None:
    with pytest.raises(DataError, match="must be 0 to 3 and counts at least 1"):
        read_counts([pair], 4)


def test_a_row_depends_on_its_own_counts_alone() -> None:
    counts = csr_array(np.array([[1.0, 9.0, 0.0], [0.0, 0.0, 0.0], [0.0, 9.0, 9.0]]))
    whole, alone = weighted_counts(counts), weighted_counts(csr_array(counts[[0]]))
    assert (whole.toarray()[0] == alone.toarray()[0]).all()
    assert whole.toarray()[0, 1] / whole.toarray()[0, 0] == pytest.approx(1 + np.log(9))
    assert not whole.toarray()[1].any()
    assert counts.data.tolist() == [1, 9, 9, 9]
