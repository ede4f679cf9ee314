from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from nodegraft.methods.linear import dual
from nodegraft.methods.sgc_ridge import SGCRidge
from nodegraft.model.registry import load_model
from tests.graph.reference import random_graph


def test_what_follows_from_the_labels_is_worked_out_once_for_each_change_and_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved: list[int] = []

    def counted(*args: object) -> dual.Dual:
        solved.append(1)
        return dual.dual_ridge(*args)  # type: ignore[arg-type]

    monkeypatch.setattr("nodegraft.methods.sgc_ridge.dual_ridge", counted)
    graph, again = random_graph(), random_graph()
    keys = graph.keys_of(graph.rows)
    model = SGCRidge().fit(graph, {"a": keys[:4], "b": keys[4:8]})
    for _ in range(3):
        model.predict(graph, keys)
    assert len(solved) == 1
    model.add_classes(graph, {"c": keys[8:10]})
    model.predict(graph, keys)
    assert len(solved) == 2
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    for _ in range(3):
        loaded.predict(again, keys)
    assert len(solved) == 3


def test_readers_do_not_wait_for_what_a_change_works_out(monkeypatch: pytest.MonkeyPatch) -> None:
    working, answered = Event(), Event()

    def slow(gram: Any, counts: Any, penalty: float) -> dual.Dual:
        if len(counts) == 3:
            working.set()
            assert answered.wait(60)
        return dual.dual_ridge(gram, counts, penalty)

    monkeypatch.setattr("nodegraft.methods.sgc_ridge.dual_ridge", slow)
    graph = random_graph()
    keys = graph.keys_of(graph.rows)
    model = SGCRidge().fit(graph, {"a": keys[:4], "b": keys[4:8]})
    before = model.predict(graph, keys)
    with ThreadPoolExecutor(1) as teacher:
        change = teacher.submit(model.add_classes, graph, {"c": keys[8:10]})
        assert working.wait(60)
        assert model.predict(graph, keys) == before  # or both would wait for ever
        answered.set()
        change.result(60)
    assert model.predict(graph, keys[8:10]) == ["c", "c"]
