"""Every method on a graph that lies on disk: the same answers as in memory."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

from nodegraft.graph.graph import Graph
from nodegraft.model.checks import CONTRACT
from nodegraft.model.contract.case import Case, scores
from nodegraft.model.registry import REGISTRY
from nodegraft.tables.disk.save import save_mapped
from tests.contract.streams import quick
from tests.contract.test_contract import case
from tests.slow_suite import slow

every_method = pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.xdist_group(one)) for one in REGISTRY.names()]
)


@dataclass(frozen=True)
class CaseOnDisk(Case):
    """The same graph and labels, the graph mapped."""

    folder: Path

    @cached_property
    def graph(self) -> Graph:
        return save_mapped(self._data[0], self.folder)


@every_method
def test_a_model_answers_the_same_about_a_graph_on_disk(name: str, tmp_path: Path) -> None:
    model, graph = case(name).after_sessions(), case(name).graph
    mapped = save_mapped(graph, tmp_path / "graph")
    assert mapped.is_on_disk
    np.testing.assert_array_equal(scores(model, mapped), scores(model, graph))


@slow
@every_method
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
def test_contract_on_disk(name: str, check: Callable[[Case], None], tmp_path: Path) -> None:
    check(CaseOnDisk(lambda: quick(name), tmp_path / "graph"))
