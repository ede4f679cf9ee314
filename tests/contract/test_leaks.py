import pytest

from nodegraft.evaluation.checks import (
    check_blind_to_company,
    check_blind_to_query_labels,
    check_blind_to_the_future,
)
from nodegraft.model.registry import REGISTRY
from tests.contract import cheats
from tests.contract.streams import quick, small_stream

every_method = pytest.mark.parametrize("name", REGISTRY.names())
both_kinds = pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])


@every_method
@both_kinds
@pytest.mark.parametrize("met", [0, 1, 2])
def test_scrambling_the_future_changes_nothing(name: str, sparse: bool, met: int) -> None:
    check_blind_to_the_future(lambda: quick(name), small_stream(sparse), met)


@every_method
@both_kinds
def test_scrambling_query_labels_changes_nothing(name: str, sparse: bool) -> None:
    check_blind_to_query_labels(lambda: quick(name), small_stream(sparse))


@every_method
def test_scrambling_query_labels_changes_nothing_where_all_nodes_are_present(name: str) -> None:
    check_blind_to_query_labels(lambda: quick(name), small_stream(arrival="present"))


@every_method
@both_kinds
def test_scores_do_not_depend_on_company(name: str, sparse: bool) -> None:
    check_blind_to_company(lambda: quick(name), small_stream(sparse))


def test_prototypes_from_queries_are_caught() -> None:
    with pytest.raises(AssertionError, match="saw query labels"):
        check_blind_to_query_labels(cheats.PrototypesFromQueries, small_stream())


def test_a_step_on_the_query_loss_is_caught() -> None:
    with pytest.raises(AssertionError, match="saw query labels"):
        check_blind_to_query_labels(lambda: cheats.StepOnQueryLoss(max_epochs=4), small_stream())


def test_degrees_of_the_future_are_caught() -> None:
    with pytest.raises(AssertionError, match="saw the future"):
        check_blind_to_the_future(cheats.DegreesOfTheFuture, small_stream(), 0)


def test_scores_centred_on_the_batch_are_caught() -> None:
    with pytest.raises(AssertionError):
        check_blind_to_company(cheats.CentredOnTheBatch, small_stream())
