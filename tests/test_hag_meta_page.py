"""The page about HAG-Meta names code, tests and options that exist, for all of the paper."""

import ast
import re
from functools import cache
from importlib import import_module

import pytest

import nodegraft as ng
from tests.cli.pages import ROOT

PAGE = (ROOT / "docs/explanation/hag-meta.md").read_text()
CODE = re.compile(r"`([^`]+)`")
OPTION = re.compile(r"`(\w+)=([^`]+)`")
EQUATIONS = [f"Eq. {number}" for number in range(1, 14)]
# Lines 6 and 10 of the first algorithm end its loops.
STEPS = [f"Alg. 1, line {number}" for number in (1, 2, 3, 4, 5, 7, 8, 9)]
STEPS += [f"Alg. 2, line {number}" for number in range(1, 6)]


def rows(name: str) -> list[list[str]]:
    """Return the cells of the table between two comments, without its head."""
    (table,) = re.findall(f"<!-- {name} -->\n(.*?)<!-- end {name} -->", PAGE, re.DOTALL)
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


MAP, OPTIONS = rows("map"), rows("options")


@cache
def functions_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / path).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_equation_and_every_step_has_a_row() -> None:
    assert [row[0] for row in MAP][: len(EQUATIONS) + len(STEPS)] == EQUATIONS + STEPS


@pytest.mark.parametrize("row", MAP, ids=lambda row: row[0])
def test_a_row_names_code_and_a_test_that_exist(row: list[str]) -> None:
    assert len(row) == 3
    code, path, test = CODE.findall(row[2])
    module, _, name = code.partition(":")
    found = import_module(f"nodegraft.{module}")
    for part in name.split("."):
        found = getattr(found, part)
    assert callable(found)
    assert test in functions_in(path)


@pytest.mark.parametrize("row", OPTIONS, ids=lambda row: f"{row[0]}: {row[3]}")
def test_an_option_can_be_set_and_is_not_the_default(row: list[str]) -> None:
    assert len(row) == 5
    given = {name: ast.literal_eval(value) for name, value in OPTION.findall(row[3])}
    assert given or row[3] == "–"
    model, default = ng.HAGMeta(**given), ng.HAGMeta()
    assert all(getattr(model, name) != getattr(default, name) for name in given)


def test_every_reading_of_the_paper_is_in_the_table() -> None:
    told = {name for row in OPTIONS for name, _ in OPTION.findall(row[3])}
    # Of the parameters of this method alone, only the length of adapting is no reading.
    own = set(ng.HAGMeta.__annotations__) - {"name", "summary", "citation", "adapt_steps"}
    assert {name for name in own if not name.endswith("_")} <= told
