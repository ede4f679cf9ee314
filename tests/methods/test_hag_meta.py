from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.benchmark.protocol import evaluate
from nodegraft.graph.labels import Labelled
from nodegraft.methods.hag_meta import HAGMeta
from tests.contract.streams import quick, small_stream


def last_scores(**parameters: Any) -> NDArray[np.float64]:
    stream = small_stream()
    model = quick("hag-meta", **parameters)
    evaluate(model, stream)
    last = stream.session(len(stream) - 1)
    return model.score_rows(last.view, last.query.rows())


@pytest.mark.parametrize(
    "switch", [{"gpil": False}, {"nla": False}, {"tla": "off", "tla_scale": "literal"}]
)
def test_every_switch_of_the_ablation_does_something(switch: dict[str, Any]) -> None:
    common = {"tla_scale": "classes", "episodes": 10}
    assert not np.allclose(last_scores(**common), last_scores(**common | switch))


def test_a_users_plain_labels_are_enough() -> None:
    stream = small_stream()
    model = HAGMeta(episodes=5, max_epochs=5).fit(stream._graph, stream.split.train)
    assert model.classes_ == stream.split.train.classes


def test_two_hundred_sessions_of_changing_size_stay_finite() -> None:
    stream, random = small_stream(), np.random.default_rng(0)
    model = quick("hag-meta").fit(stream._graph, stream.split.train)
    for session in range(200):
        ways, shots = random.integers(1, 4), random.integers(1, 8)
        rows = random.choice(stream._graph.num_nodes, size=(ways, shots), replace=False)
        model.add_classes(
            stream._graph, Labelled({f"{session}-{way}": rows[way] for way in range(ways)})
        )
    scores = model.score_rows(stream._graph.whole, np.arange(stream._graph.num_nodes))
    assert np.isfinite(scores).all()
