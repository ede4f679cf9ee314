"""The rules about threads and keys again, for longer and in more orders."""

import pytest

from nodegraft.model.contract.identity import (
    check_nodes_may_go,
    check_rows_may_be_inserted,
    check_rows_may_come_in_any_order,
)
from nodegraft.model.contract.threads import check_readers_beside_a_writer
from nodegraft.model.registry import REGISTRY
from tests.contract.test_contract import case
from tests.slow_suite import slow

every_method = pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.xdist_group(one)) for one in REGISTRY.names()]
)


@slow
@every_method
def test_eight_readers_and_a_writer_for_half_a_minute(name: str) -> None:
    check_readers_beside_a_writer(case(name), readers=8, seconds=30.0, most_changes=60)


@slow
@every_method
@pytest.mark.parametrize(
    "check",
    [check_rows_may_come_in_any_order, check_rows_may_be_inserted, check_nodes_may_go],
    ids=lambda check: check.__name__,
)
def test_tables_in_many_orders(name: str, check: object) -> None:
    for seed in range(1, 21):
        check(case(name), seed)  # type: ignore[operator]
