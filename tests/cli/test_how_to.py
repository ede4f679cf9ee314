"""How-to pages and the tutorial on tables: every block is run, and shows what comes out."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nodegraft.cli.app import app
from tests.cli.pages import ROOT, run_page, steps

TABLES = [f"--{name}=words/{name}.parquet" for name in ("nodes", "edges", "labels")]
COLUMNS = ["--text", "description", "--type", "kind", "--directed"]
TEACHING = {"add", "label", "relabel", "unlabel"}
MENDING = {"undo", "remove", "rename", "merge", "split"} | {
    *("refit", "promote", "rollback", "history", "diff"),
}
USING = {"predict", "explain", "suggest", "drift"}
# Each is run on the store of the first tutorial as that made it.
PAGES = {"teaching": TEACHING, "mending": MENDING, "using": USING}

pytestmark = pytest.mark.xdist_group("how-to")


@pytest.fixture(autouse=True)
def as_the_pages_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOGNAME", "anna")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(scope="module")
def first_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("LOGNAME", "anna")
        for command in (["example", "words"], ["init", "my-store", *TABLES, *COLUMNS]):
            assert CliRunner().invoke(app, command).exit_code == 0
    return folder / "my-store"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs_on_the_store_of_the_first_tutorial(page: str, first_store: Path) -> None:
    text = (ROOT / f"docs/how-to/{page}.md").read_text()
    assert {step.command.split()[1] for step in steps(text)} >= PAGES[page]
    shutil.copytree(first_store, "my-store")
    run_page(text)


def test_the_tutorial_on_tables_runs_in_an_empty_folder() -> None:
    run_page((ROOT / "docs/tutorials/bring-your-own-tables.md").read_text())
