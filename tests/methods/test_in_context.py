from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from nodegraft.base.events import Listener
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.methods.in_context import InContext
from tests.graph.reference import dense


def lesson() -> tuple[Graph, dict[str, list[Key]]]:
    graph, labels = BlockModel(nodes=200, classes=4, features=20, signal=1.0, sparse=True).draw()
    return graph, {name: graph.keys_of(rows[:9]) for name, rows in labels.items()}


def test_rows_are_a_truncated_decomposition_of_propagated_features() -> None:
    graph, taught = lesson()
    model = InContext(columns=5).fit(graph, taught)
    rows = np.arange(graph.num_nodes)
    hops = [dense(hop) for hop in graph.propagated(rows, 2)]
    unit = [hop / np.linalg.norm(hop, axis=1, keepdims=True) for hop in hops]
    whole = np.hstack(unit) / np.sqrt(3)
    _, _, right = np.linalg.svd(whole, full_matrices=False)
    found = dense(model.embed(graph, graph.keys_of(rows)))
    assert found.shape == (200, 5)
    # Up to signs: columns of the randomised solver are close, the largest nearly equal.
    cosine = np.abs((found / np.linalg.norm(found, axis=0)).T @ (whole @ right.T)[:, :5])
    lengths = np.linalg.norm((whole @ right.T)[:, :5], axis=0)
    np.testing.assert_allclose((cosine / lengths).diagonal()[:2], 1, atol=1e-3)


def test_scores_are_probabilities_of_the_classifier() -> None:
    graph, taught = lesson()
    model = InContext(columns=8).fit(graph, taught)
    vectors = dense(model.embed(graph, graph.keys_of(np.arange(200))))
    targets = np.repeat(np.arange(4), 9)
    engine = LogisticRegression(C=100.0, class_weight="balanced", max_iter=300, tol=1e-6)
    examples = np.concatenate([graph.rows_of(keys) for keys in taught.values()])
    expected = engine.fit(vectors[examples], targets).predict_proba(vectors)
    np.testing.assert_allclose(model.score_rows(graph, np.arange(200)), expected, atol=1e-4)


def test_changed_predictions_among_old_classes_are_counted() -> None:
    graph, taught = lesson()
    *known, last = taught
    model = InContext(columns=8).fit(graph, {name: taught[name] for name in known})
    rows, reported = np.arange(200), list[float]()

    class Recorder(Listener):
        def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
            reported.append(numbers["old_predictions_changed"])

    assert model.changed_by_last_session(graph) == 0
    before = model.score_rows(graph, rows).argmax(axis=1)
    model.add_classes(graph, {last: taught[last][:3]}, listener=Recorder())
    after = model.score_rows(graph, rows)[:, :3].argmax(axis=1)
    share = (before != after).mean()
    assert 0 < share < 1
    assert reported == [share]
    assert model.changed_by_last_session(graph) == share


def test_a_subclass_can_use_another_classifier() -> None:
    @dataclass(kw_only=True)
    class Bayes(InContext):
        def new_classifier(self) -> GaussianNB:
            return GaussianNB()

    graph, taught = lesson()
    model = Bayes(columns=8).fit(graph, taught)
    vectors = dense(model.embed(graph, graph.keys_of(np.arange(200))))
    examples = np.concatenate([graph.rows_of(keys) for keys in taught.values()])
    engine = GaussianNB().fit(vectors[examples], np.repeat(np.arange(4), 9))
    found = model.score_rows(graph, np.arange(200))
    np.testing.assert_allclose(found, engine.predict_proba(vectors), atol=1e-9)
