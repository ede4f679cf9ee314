"""The recipes of CONTRIBUTING.md: their code runs. (.ci/plugin.py checks the method.)"""

import re
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

from typer import Typer
from typer.testing import CliRunner

from tests.service.served import asked, make_of_tables

PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"


def recipe(marker: str) -> Any:
    """Return a module with the code of the recipe that contains a marker."""
    blocks = re.findall(r"^( *)```python\n(.*?)^\1```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    (code,) = (dedent(block) for _, block in blocks if marker in block)
    module = ModuleType("recipe")
    exec(compile(code, str(PAGE), "exec", dont_inherit=True), vars(module))  # noqa: S102
    return module


def test_the_dataset_is_read(tmp_path: Path) -> None:
    (tmp_path / "dishes").mkdir()
    cuisines = ("thai", "greek", "greek", "thai", "peruvian", "peruvian")
    lines = [f"d{n}\t{cuisine}\tspicy soup\td0 d1" for n, cuisine in enumerate(cuisines)]
    (tmp_path / "dishes" / "dishes.tsv").write_text("\n".join(lines) + "\n")
    dataset = recipe("(Dataset)").Dishes()
    loaded = dataset.parse(dataset.locate(tmp_path))
    assert loaded.labels.classes == ("greek", "peruvian", "thai")
    assert loaded.graph.num_nodes == 6


def test_the_command_counts_versions_by_author(tmp_path: Path) -> None:
    make_of_tables(tmp_path / "shop")
    app = Typer()
    for name, command in recipe("COMMANDS = ").COMMANDS.items():
        app.command(name)(command)
    done = CliRunner().invoke(app, [str(tmp_path / "shop")])
    assert done.exit_code == 0, done.output
    assert re.search(r"\w+: 1\n", done.output)
    missing = CliRunner().invoke(app, [str(tmp_path / "nowhere")])
    assert missing.exit_code == 2


def test_the_route_counts_nodes(tmp_path: Path) -> None:
    make_of_tables(tmp_path / "shop")
    with asked(tmp_path / "shop") as client:
        app: Any = client.app
        app.include_router(recipe('ROUTER.get("/size")').ROUTER)
        size = client.get("/v1/size").json()
        assert size["nodes"] == client.get("/v1/summary").json()["nodes"]


def test_the_metric_is_what_its_example_says() -> None:
    assert recipe("def worst_recall").worst_recall({"hats": 0.5, "shoes": 0.9}) == 0.5
