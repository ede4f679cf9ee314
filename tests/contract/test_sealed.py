"""Sealed methods: the same results as unsealed ones, and cheats classify like chance."""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from studies.cheating import CHANCE, CHEATS, ActsOnLargeGraphs, write_raw_files
from studies.cheats import sealed, unsealed

from nodegraft.base.errors import NodegraftError
from nodegraft.evaluation.checks import check_no_leaks, small_stream
from nodegraft.evaluation.protocol import StreamResult, evaluate
from nodegraft.evaluation.sealed.contents import Contents
from nodegraft.evaluation.sealed.method import SealedMethod, evaluate_sealed
from nodegraft.model.registry import REGISTRY, make_method
from nodegraft.streams.arrival import Arrival
from tests.contract.streams import quick
from tests.slow_suite import slow

QUICK = "walks the call stack", "reads the raw files"
CLOSED_UNSEALED = "none (sgc-mean)", "reads the graph of the rehearsal"


def all_recalls(result: StreamResult) -> list[dict[str, float]]:
    return [session.recall for session in result.sessions]


@pytest.mark.parametrize("name", REGISTRY.names())
@pytest.mark.parametrize(
    ("sparse", "arrival"), [(True, "growing"), pytest.param(False, "isolated", marks=slow)]
)
def test_what_is_sent_gives_the_same_scores(name: str, sparse: bool, arrival: Arrival) -> None:
    stream = small_stream(sparse, arrival=arrival)
    unsealed, received = quick(name), quick(name)
    for session in stream:
        contents = Contents({}, {})
        contents.put_view(session.view)
        view = contents.view()
        if session.index == 0:
            contents.put_curriculum(stream.curriculum)
            unsealed.fit(session.view, stream.curriculum)
            received.fit(view, contents.curriculum())
        else:
            unsealed.add_classes(session.view, session.support)
            received.add_classes(view, session.support)
        rows = np.sort(session.query.rows())
        every = received.score_rows(view, view.rows)[view.positions(rows)]
        expected = unsealed.score_rows(session.view, rows)
        tolerance = 1e-6 * (1.0 + np.abs(expected).max())
        np.testing.assert_allclose(every, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    "name",
    [name if name == "graft" else pytest.param(name, marks=slow) for name in REGISTRY.names()],
)
def test_sealed_results_are_those_of_unsealed_methods(name: str) -> None:
    stream = small_stream()
    with SealedMethod(name, seed=3) as method:
        result = evaluate_sealed(method, stream)
    expected = evaluate(make_method(name, seed=3), stream)
    assert all_recalls(result) == all_recalls(expected)
    assert result.sessions[-1].kept_bytes == expected.sessions[-1].kept_bytes


@cache
def accuracies(name: str, folder: Path) -> tuple[float, float]:
    return unsealed(name, str(folder)), sealed(name, str(folder))["sealed"]


@pytest.fixture(scope="module")
def raw_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    write_raw_files(folder)
    return folder


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=slow) for name in CHEATS]
)
def test_a_sealed_cheat_classifies_like_chance(name: str, raw_files: Path) -> None:
    in_the_open, in_its_own_process = accuracies(name, raw_files)
    assert in_its_own_process < 1.5 * CHANCE
    if name in CLOSED_UNSEALED:
        assert in_the_open < 1.5 * CHANCE
    else:
        assert in_the_open > 2.5 * CHANCE


@slow
def test_checks_at_the_size_of_real_graphs_catch_what_small_ones_miss() -> None:
    check_no_leaks(ActsOnLargeGraphs)
    with pytest.raises(AssertionError, match="saw"):
        check_no_leaks(ActsOnLargeGraphs, nodes=4000)


@slow
@pytest.mark.parametrize("name", REGISTRY.names())
def test_methods_do_not_leak_at_the_size_of_real_graphs(name: str) -> None:
    check_no_leaks(lambda: quick(name), nodes=9360)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Dies", "ended with exit code 3"),
        pytest.param("Fails", "ValueError: no scores today", marks=slow),
        pytest.param("AnswersTooMuch", r"float64 of shape \(", marks=slow),
    ],
)
def test_a_method_that_goes_wrong_is_reported_and_not_imported(name: str, message: str) -> None:
    stream = small_stream()
    # The search for doctests imports all files of the tests.
    sys.modules.pop("tests.contract.only_sealed", None)
    with (
        pytest.raises(NodegraftError, match=message),
        SealedMethod(f"tests.contract.only_sealed:{name}") as method,
    ):
        evaluate_sealed(method, stream)
    assert "tests.contract.only_sealed" not in sys.modules
