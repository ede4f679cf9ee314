from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.evaluation.checks import (
    check_independent_of_other_queries,
    check_independent_of_query_labels,
    check_independent_of_unseen_classes,
    small_stream,
    with_future_scrambled,
)
from nodegraft.evaluation.protocol import evaluate
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.newness import Newness
from nodegraft.methods.sgc_mean import SGCMean
from nodegraft.model.method import Method
from nodegraft.model.registry import REGISTRY
from nodegraft.streams.arrival import ARRIVALS, Arrival
from nodegraft.streams.setting import Setting
from nodegraft.streams.split import ClassSplit
from nodegraft.streams.stream import ClassStream
from tests.contract import cheats
from tests.contract.streams import quick
from tests.slow_suite import slow

every_method = pytest.mark.parametrize("name", REGISTRY.names())
other_arrivals = pytest.mark.parametrize(
    "arrival",
    [
        pytest.param(arrival, marks=() if arrival in ("present", "mixed") else slow)
        for arrival in ARRIVALS
        if arrival != "growing"
    ],
)
both_kinds = pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])


@every_method
@both_kinds
@pytest.mark.parametrize("met", [0, 1, pytest.param(2, marks=slow)])
def test_scrambling_the_future_changes_nothing(name: str, sparse: bool, met: int) -> None:
    check_independent_of_unseen_classes(lambda: quick(name), small_stream(sparse), met)


@every_method
@other_arrivals
def test_scrambling_the_future_changes_nothing_however_nodes_arrive(
    name: str, arrival: Arrival
) -> None:
    check_independent_of_unseen_classes(lambda: quick(name), small_stream(arrival=arrival), 1)


@every_method
@both_kinds
def test_scrambling_query_labels_changes_nothing(name: str, sparse: bool) -> None:
    check_independent_of_query_labels(lambda: quick(name), small_stream(sparse))


@every_method
@other_arrivals
def test_scrambling_query_labels_changes_nothing_however_nodes_arrive(
    name: str, arrival: Arrival
) -> None:
    check_independent_of_query_labels(lambda: quick(name), small_stream(arrival=arrival))


@every_method
@both_kinds
def test_scores_do_not_depend_on_company(name: str, sparse: bool) -> None:
    check_independent_of_other_queries(lambda: quick(name), small_stream(sparse))


def test_prototypes_from_queries_are_caught() -> None:
    with pytest.raises(AssertionError, match="saw query labels"):
        check_independent_of_query_labels(cheats.PrototypesFromQueries, small_stream())


def test_a_step_on_the_query_loss_is_caught() -> None:
    with pytest.raises(AssertionError, match="saw query labels"):
        check_independent_of_query_labels(
            lambda: cheats.StepOnQueryLoss(max_epochs=4), small_stream()
        )


@pytest.mark.parametrize("arrival", ["growing", "mixed", "blurred"])
def test_degrees_of_the_future_are_caught(arrival: Arrival) -> None:
    with pytest.raises(AssertionError, match="saw the future"):
        check_independent_of_unseen_classes(
            cheats.DegreesOfTheFuture, small_stream(arrival=arrival), 0
        )


@pytest.mark.parametrize("arrival", ["present", "mixed", "blurred"])
def test_classes_that_have_not_arrived_are_not_learned_from_visible_nodes(arrival: Arrival) -> None:
    stream = small_stream(arrival=arrival)
    members = [stream.split.members]  # of every class, also of those that arrive later

    class ReadsLaterClasses(SGCMean):
        def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
            later = np.isin(rows, members[-1][stream.split.novel[-1]])
            return super().score(view, rows) + later[:, None]

    def scrambled(method: Method) -> Method:
        members.append(with_future_scrambled(stream, 1).split.members)
        return method

    makes = iter([ReadsLaterClasses, lambda: scrambled(ReadsLaterClasses())])
    with pytest.raises(AssertionError, match="saw the future"):
        check_independent_of_unseen_classes(lambda: next(makes)(), stream, 1)


def test_scores_centred_on_the_batch_are_caught() -> None:
    with pytest.raises(AssertionError):
        check_independent_of_other_queries(cheats.CentredOnTheBatch, small_stream())


SETTING = Setting(base=4, pseudo_novel=2, validation=2, novel=4, ways=2, shots=5)


@cache
def sorted_by_class() -> tuple[Graph, NodeLabels]:
    """As raw files are: rows one class after the other, keys that begin with the class."""
    graph, labels = BlockModel(nodes=600, classes=12, features=40).draw()
    order = labels.rows()
    sizes = np.cumsum([0, *(rows.size for rows in labels.values())])
    members = [np.arange(a, b) for a, b in pairwise(sizes)]
    listed = NodeLabels(dict(zip(labels.classes, members, strict=True)))
    keys = [f"{place:02d}/{row}" for place, rows in enumerate(members) for row in rows]
    place = np.argsort(order)
    edges = [(keys[place[a]], keys[place[b]]) for a, b in zip(*graph.edges(), strict=True)]
    return Graph(keys, graph.features(order), edges), listed


def last_accuracy(method: Method, stream: ClassStream) -> float:
    return evaluate(method, stream).sessions[-1].macro_accuracy


@pytest.mark.parametrize("arrival", ARRIVALS)
@pytest.mark.parametrize("cheat", [cheats.NearestLabelledRow, cheats.ReadsTheKey])
def test_neither_rows_nor_keys_of_a_stream_tell_the_class(
    cheat: type[Method], arrival: Arrival
) -> None:
    graph, labels = sorted_by_class()
    known = ClassStream(graph, ClassSplit.draw(labels, SETTING, 0), arrival=arrival)
    assert last_accuracy(cheat(), known) > 0.9
    chance = 1 / 10
    anonymous = ClassStream.draw(graph, labels, SETTING, arrival=arrival)
    assert last_accuracy(cheat(), anonymous) < 2 * chance


def test_the_rehearsal_does_not_lead_to_the_stream() -> None:
    curriculum = ClassStream.draw(*sorted_by_class(), SETTING).curriculum
    with pytest.raises(AttributeError):
        curriculum.rehearsal.__self__.split.members  # type: ignore[union-attr]  # noqa: B018


def test_what_newness_gives_away_depends_on_the_arrival() -> None:
    # Features that say little, so that knowing the session of a node says much.
    graph, labels = BlockModel(nodes=600, classes=12, features=40, signal=0.3, homophily=0.3).draw()
    gain = {
        arrival: last_accuracy(Newness(), stream) - last_accuracy(SGCMean(), stream)
        for arrival in ARRIVALS
        for stream in [ClassStream.draw(graph, labels, SETTING, arrival=arrival)]
    }
    assert gain["with-class"] > 0.15
    assert gain["growing"] < gain["with-class"] / 2
    assert gain["present"] < 0
    assert gain["mixed"] < gain["growing"]
