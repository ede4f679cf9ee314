"""Probability, known and confidence of a model: one definition, saved with the model."""

from pathlib import Path

import numpy as np
import pytest

from nodegraft.base.errors import ParameterError, UnknownNodeError
from nodegraft.methods.graft import Graft
from nodegraft.methods.sgc_mean import SGCMean
from nodegraft.model.confidence import known_at_even_share, share_note
from nodegraft.model.registry import load_model
from tests.store.small import drawn

GRAPH, _LABELS = drawn()
KNOWN = {name: nodes[:20] for name, nodes in list(_LABELS.items())[:-2]}
NODES = [nodes[-1] for nodes in _LABELS.values()]


def test_confidence_is_the_product_in_an_open_world_and_the_probability_in_a_closed_one() -> None:
    model = Graft().fit(GRAPH, KNOWN)
    table = model.predict_table(GRAPH, NODES)
    assert table.predictions == model.predict(GRAPH, NODES)
    assert (table.known < 0.99).any()
    np.testing.assert_array_equal(table.confidence, table.probability * table.known)
    np.testing.assert_array_equal(table.probability, model.predict_proba(GRAPH, NODES).max(axis=1))
    assert table.to_arrow().column_names == [
        *("node", "prediction", "confidence", "probability", "known")
    ]
    assert model.set_params(world="closed").classes_ == tuple(KNOWN)  # nothing is forgotten
    closed = model.predict_table(GRAPH, NODES)
    np.testing.assert_array_equal(closed.confidence, table.probability)
    np.testing.assert_array_equal(closed.known, table.known)


def test_abstaining_uses_the_confidence_of_the_world() -> None:
    model = Graft().fit(GRAPH, KNOWN)
    table = model.predict_table(GRAPH, NODES)
    place = int(np.argmax(table.probability - table.confidence))
    between = float(table.probability[place] + table.confidence[place]) / 2
    node = [NODES[place]]
    assert model.predict_or_abstain(GRAPH, node, between) == [None]
    model.set_params(world="closed")
    assert model.predict_or_abstain(GRAPH, node, between) == [table.predictions[place]]


def test_the_world_is_saved_with_the_model(tmp_path: Path) -> None:
    model = Graft(world="closed").fit(GRAPH, KNOWN)
    model.save(tmp_path / "model")
    assert load_model(tmp_path / "model").world == "closed"
    with pytest.raises(ParameterError, match="world must be"):
        Graft(world="half")  # type: ignore[arg-type]


def test_a_method_without_an_open_set_score_is_closed() -> None:
    model = SGCMean().fit(GRAPH, KNOWN)
    assert model.world == "closed"
    assert np.isnan(model.predict_table(GRAPH, NODES).known).all()


def test_an_explanation_has_the_numbers_of_the_table() -> None:
    model = Graft().fit(GRAPH, KNOWN)
    told, table = model.explain(GRAPH, NODES[-1]), model.predict_table(GRAPH, NODES[-1:])
    for name in ("confidence", "probability", "known"):
        assert told[name] == pytest.approx(float(getattr(table, name)[0]), rel=1e-6)
    assert told["world"] == "open"
    assert told["share_of_known_classes"] == model.share_of_known_classes(GRAPH)


def test_an_explanation_says_where_the_estimated_share_moves_confidence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert known_at_even_share(0.5, 0.5) == 0.5
    assert share_note(0.9, 0.9, 0.6, "open") is None
    note = share_note(0.6, 0.08, 0.25, "open")
    assert note is not None
    assert "Confidence is 4.8 %" in note
    assert share_note(0.6, 0.08, 0.25, "closed") is None
    assert share_note(0.6, 0.08, None, "open") is None
    model = Graft().fit(GRAPH, KNOWN)
    monkeypatch.setattr(Graft, "share_of_known_classes", lambda *_: 0.02)
    monkeypatch.setattr(Graft, "known_class_probability", lambda *_: np.array([0.1]))
    assert "the world closed" in model.explain(GRAPH, NODES[0])["note"]


def test_all_unknown_keys_are_named_up_to_twenty() -> None:
    model = SGCMean().fit(GRAPH, KNOWN)
    with pytest.raises(UnknownNodeError, match="'x19' and 5 more") as caught:
        model.predict(GRAPH, [f"x{place}" for place in range(25)])
    assert all(f"'x{place}'" in str(caught.value) for place in range(20))
