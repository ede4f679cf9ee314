"""The names of the package, and what importing it costs."""

import ast
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


def imported(code: str) -> set[str]:
    """The modules that a fresh process holds after ``code``."""
    told = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(told.stdout.split())


def test_importing_a_closed_form_method_imports_nothing_slow() -> None:
    """Clocks beside other tests lie, so the libraries are counted."""
    assert not imported("import nodegraft") & {"numpy", "torch"}
    used = imported("from nodegraft import Graft, Graph, evaluate, load_model, read_graph")
    assert "numpy" in used
    assert not used & {
        *(
            "torch",
            "duckdb",
            "matplotlib",
            "pandas",
            "ray",
            "sqlalchemy",
            "torch_geometric",
            "typer",
        ),
        *("scipy.optimize", "scipy.stats", "sklearn"),
    }
