"""What every registered method must do; a new method gets these tests for free."""

from collections.abc import Callable
from functools import cache

import pytest

from nodegraft.model.checks import CONTRACT
from nodegraft.model.contract.case import Case
from nodegraft.model.registry import REGISTRY
from tests.contract.streams import quick


@cache
def case(name: str) -> Case:
    """Fitted once for all checks."""
    return Case(lambda: quick(name))


@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.xdist_group(one)) for one in REGISTRY.names()]
)
def test_contract(name: str, check: Callable[[Case], None]) -> None:
    check(case(name))
