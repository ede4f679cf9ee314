import numpy as np

from nodegraft.graph.labels import NodeLabels


def test_names_sort_as_the_ids_do() -> None:
    labels = NodeLabels.from_numbers(np.array([100, 9, 20, 9]))
    assert labels.classes == ("class-009", "class-020", "class-100")
    assert [rows.tolist() for rows in labels.values()] == [[1, 3], [2], [0]]
