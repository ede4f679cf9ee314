from pathlib import Path

import numpy as np
import pytest

from nodegraft.graph.edges.matrix import row_norms
from nodegraft.graph.statistics import describe
from nodegraft.lab.datasets.amazon_clothing import AmazonClothing

CLASSES = [2, 9, 11, 14, 20, 22, 25, 28, 30, 31, 38, 41, 46, 48, 51, 54, 55, 61, 62, 65]


@pytest.mark.real_data
def test_public_half_has_the_stated_statistics(real_data: Path) -> None:
    loaded = AmazonClothing().load(real_data)
    found = describe(loaded.graph, loaded.labels)
    assert (found.nodes, found.edges, found.classes, found.isolated) == (9360, 29077, 20, 802)
    assert found.degree_quantiles == (0, 1, 1, 2, 6, 13, 68, 245)
    assert found.homophily == pytest.approx(0.926, abs=0.0005)
    assert loaded.labels.classes == tuple(f"class-{number:02d}" for number in CLASSES)
    assert str(loaded.setting).startswith("6/3/2/9 classes")
    assert loaded.notes[0].startswith("20 of 77 classes")
    assert loaded.notes[1].startswith("15559 nodes")


@pytest.mark.real_data
def test_public_half_keeps_its_words(real_data: Path) -> None:
    graph = AmazonClothing().load(real_data).graph
    words = graph.features(np.arange(graph.num_nodes))
    used = np.unique(words.nonzero()[1])
    assert graph.num_features == 9034
    assert graph.num_features - used.size == 1148
    assert row_norms(words) == pytest.approx(1.0)


def test_folders_are_tried_in_order(tmp_path: Path) -> None:
    for folder in AmazonClothing.folders[::-1]:
        (tmp_path / folder).mkdir()
        for name in AmazonClothing.required_files:
            (tmp_path / folder / name).touch()
        assert {path.parent.name for path in AmazonClothing().locate(tmp_path).values()} == {folder}
