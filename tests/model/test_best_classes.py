import numpy as np
import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.graph.block_model import BlockModel
from nodegraft.methods.graft import Graft
from nodegraft.model import best_classes
from nodegraft.model.best_classes import SEARCHED, best_columns


@pytest.mark.parametrize("top", [1, 3, SEARCHED, SEARCHED + 1, 12, 20])
def test_the_best_are_those_that_sorting_finds(top: int) -> None:
    """Rounded, so that many are equal: of these the first comes first."""
    scores = np.random.default_rng(0).standard_normal((200, 12)).round(1)
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :top]
    np.testing.assert_array_equal(best_columns(scores, top), expected)


def test_all_nodes_are_answered_as_if_asked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Graft, "block_rows", 64)
    monkeypatch.setattr(best_classes, "BLOCK_ROWS", 150)
    graph, labels = BlockModel(nodes=500, classes=6, signal=1.0).draw()
    model = Graft(practise=False).fit(
        graph, {name: graph.keys_of(rows[:12]) for name, rows in labels.items()}
    )
    answers = model.predict_all(graph, top=2)
    scores = model.score_rows(graph, graph.rows)
    # The model as it was: what happens to it between blocks changes nothing.
    model.remove_classes([next(iter(labels))])
    blocks = list(answers)
    assert [one.rows.size for one in blocks] == [128, 128, 128, 116]
    best = np.argsort(-scores, axis=1, kind="stable")[:, :2]
    np.testing.assert_array_equal(np.concatenate([one.columns for one in blocks]), best)
    assert {one.names for one in blocks} == {tuple(labels)}


def test_top_must_be_positive() -> None:
    graph, labels = BlockModel(nodes=100, classes=4).draw()
    model = Graft(practise=False).fit(
        graph, {name: graph.keys_of(rows[:3]) for name, rows in labels.items()}
    )
    with pytest.raises(ParameterError, match="top"):
        model.predict_all(graph, top=0)
