"""The names of the package, and what importing it costs."""

import ast
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import nodegraft as ng

ROOT = Path(ng.__file__)


def test_every_name_is_there_and_is_looked_up_where_type_checkers_are_told() -> None:
    told = {
        alias.name: node.module
        for node in ast.walk(ast.parse(ROOT.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and "nodegraft" in node.module
        for alias in node.names
    }
    homes = {name: home.removesuffix(f".{name}") for name, home in ng._HOMES.items()}
    assert homes == told
    assert sorted(told) == sorted(ng.__all__)
    for name in ng.__all__:
        assert getattr(ng, name) is not None
        assert name in dir(ng)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ng.nothing  # noqa: B018


def test_errors_listener_features_and_saving_are_exported() -> None:
    assert issubclass(ng.errors.DataError, ng.errors.NodegraftError)
    assert {"Listener", "PrintProgress", "FeatureRecipe", "save_graph", "load_graph"} <= {
        *ng.__all__
    }


def cpu_seconds(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_importing_costs_hardly_more_than_torch() -> None:
    """Once it was 2.3 times: scipy.stats and scikit-learn were imported for everybody."""
    torch = min(cpu_seconds("import torch") for _ in range(3))
    assert cpu_seconds("import nodegraft") < 0.25 * torch
    used = "from nodegraft import Graft, Graph, evaluate, load_model, read_graph"
    # 1.12 to 1.15 when measured alone; beside other tests clocks are less sure.
    assert min(cpu_seconds(used) for _ in range(3)) < 1.4 * torch
