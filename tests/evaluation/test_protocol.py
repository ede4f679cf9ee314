import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.base.events import Listener
from nodegraft.evaluation.metrics import harmonic_mean
from nodegraft.evaluation.protocol import SessionResult, evaluate
from nodegraft.methods.sgc_mean import SGCMean
from tests.contract.streams import small_stream


def test_every_held_out_node_of_every_seen_class_is_asked() -> None:
    stream = small_stream()
    trace = evaluate(SGCMean(), stream)
    for session, result in zip(stream, trace.sessions, strict=True):
        assert result.queries == session.query.num_nodes
        assert result.queries_by_class == {name: rows.size for name, rows in session.query.items()}
    assert [result.classes for result in trace.sessions] == [5, 7, 9, 11]


def test_numbers_agree_with_predictions_by_name() -> None:
    stream = small_stream()
    model = SGCMean()
    last = evaluate(model, stream).sessions[-1]
    session = stream.session(len(stream) - 1)
    right = {
        name: np.mean([guess == name for guess in model.predict(session.view, rows.tolist())])
        for name, rows in session.query.items()
    }
    known = [right[name] for name in stream.split.known]
    novel = [right[name] for name in right if name not in stream.split.known]
    assert last.recall == pytest.approx(right)
    assert last.macro_accuracy == pytest.approx(np.mean(list(right.values())))
    assert last.known_accuracy == pytest.approx(np.mean(known))
    assert last.base_accuracy == pytest.approx(np.mean([right[one] for one in stream.split.base]))
    assert last.novel_accuracy == pytest.approx(np.mean(novel))
    assert last.harmonic_mean == pytest.approx(harmonic_mean(np.mean(known), np.mean(novel)))
    sizes = {name: rows.size for name, rows in session.query.items()}
    micro = sum(right[name] * sizes[name] for name in right) / sum(sizes.values())
    assert last.micro_accuracy == pytest.approx(micro)


def test_session_zero_has_no_novel_numbers() -> None:
    first = evaluate(SGCMean(), small_stream()).sessions[0]
    assert first.novel_accuracy is None
    assert first.harmonic_mean is None


def test_summary_is_made_of_the_sessions() -> None:
    trace = evaluate(SGCMean(), small_stream())
    macro = [result.macro_accuracy for result in trace.sessions]
    summary = trace.summary
    assert summary["first_accuracy"] == macro[0]
    assert summary["last_accuracy"] == macro[-1]
    assert summary["average_accuracy"] == pytest.approx(np.mean(macro))
    assert summary["performance_drop"] == pytest.approx(macro[0] - macro[-1])
    assert summary["relative_performance_drop"] == pytest.approx(1 - macro[-1] / macro[0])


def test_confidence_is_compared_with_classes_still_to_come_where_they_are_in_sight() -> None:
    stream, model = small_stream(arrival="present"), SGCMean()
    sessions = evaluate(model, stream).sessions
    assert sessions[-1].unknown_auroc is None
    first, view = stream.session(0), stream.session(0).view
    again = SGCMean()
    again.fit(view, stream.curriculum)

    def surest(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(again.confidence(view, again.score_rows(view, rows)))

    taught = surest(first.query.rows())
    others = surest(stream.split.query.select(stream.split.novel).rows())
    wins = (taught[:, None] > others).mean() + (taught[:, None] == others).mean() / 2
    assert sessions[0].unknown_auroc == pytest.approx(wins)
    summary = evaluate(SGCMean(), stream).summary
    between = [one.unknown_auroc or 0.0 for one in sessions[1:-1]]
    assert summary["unknown_auroc"] == pytest.approx(np.mean(between))
    assert evaluate(SGCMean(), small_stream()).summary["unknown_auroc"] is None


def test_listener_hears_every_session() -> None:
    heard: list[SessionResult] = []

    class Ear(Listener):
        def session(self, result: SessionResult) -> None:
            heard.append(result)

    trace = evaluate(SGCMean(), small_stream(), listener=Ear())
    assert tuple(heard) == trace.sessions
