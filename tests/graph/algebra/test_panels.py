import numpy as np
import pytest

from nodegraft.graph.algebra.panels import times_columns


@pytest.mark.parametrize("nodes", [1, 7, 33, 1000])
@pytest.mark.parametrize("width", [3, 16, 64, 200])
def test_a_column_has_the_same_bits_in_any_company(nodes: int, width: int) -> None:
    draws = np.random.default_rng(0)
    left, right = draws.standard_normal((nodes, width)), draws.standard_normal((width, 130))
    together = times_columns(left, right)
    np.testing.assert_allclose(together, left @ right, atol=1e-12)
    for columns in ([5], [5, 6], range(3, 16), range(40, 121), [129, 0, 64]):
        alone = times_columns(left, np.ascontiguousarray(right[:, columns]))
        assert alone.tobytes() == together[:, columns].tobytes()
