"""Every block of every page is run, in order, in a folder of its own, and shows what comes out."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.left_out import LEFT_OUT, LeftOut
from tests.cli.page_shop import lay_out_records, make_first_store, make_shop, write_tables
from tests.cli.pages import (
    CODE,
    FILES,
    READ_ONLY,
    ROOT,
    Block,
    blocks,
    blocks_in,
    missing,
    pages,
    steps_of,
)
from tests.cli.terminal import Terminal
from tests.slow_suite import slow

WITH_CODE = [page for page in pages() if any(block.kind in CODE for block in blocks(page))]
FIRST_STORE, SHOP = "my-store", "shop"
STORES = {FIRST_STORE: make_first_store, SHOP: make_shop}


@dataclass(frozen=True)
class Start:
    """What there is before a page begins."""

    store: str = ""
    """What is copied: made once for all pages that begin with it."""

    tables: bool = False
    """Whether the tables of the shop are there."""

    records: str = ""
    """A folder with records, beside the suites of the checkout."""

    results: bool = False
    """Whether all records and suites of the checkout are there."""

    after: str = ""
    """A page whose Python is typed first."""


STARTS = {
    "README.md": Start(tables=True),
    "docs/index.md": Start(tables=True),
    "docs/explanation/confidence.md": Start(FIRST_STORE, tables=True, after="docs/index.md"),
    "docs/explanation/hag-meta.md": Start(tables=True, results=True),
    "docs/how-to/class-tree.md": Start(FIRST_STORE),
    "docs/how-to/client.md": Start(SHOP),
    "docs/how-to/dagster.md": Start(SHOP),
    "docs/how-to/databases.md": Start(tables=True),
    "docs/how-to/coming-from.md": Start(tables=True),
    "docs/how-to/maintenance.md": Start(SHOP),
    "docs/how-to/mlflow.md": Start(SHOP),
    "docs/how-to/larger-than-memory.md": Start(tables=True),
    "docs/how-to/edit-versions.md": Start(FIRST_STORE),
    "docs/how-to/report.md": Start(records="RUNS"),
    "docs/how-to/serve.md": Start(SHOP),
    "docs/how-to/store.md": Start(tables=True),
    "docs/how-to/suggest-labels.md": Start(FIRST_STORE, tables=True),
    "docs/how-to/node-types.md": Start(tables=True),
    "docs/how-to/tables.md": Start(tables=True),
    "docs/how-to/troubleshooting.md": Start(FIRST_STORE),
    "docs/how-to/add-classes.md": Start(FIRST_STORE),
    "docs/how-to/predict.md": Start(FIRST_STORE),
}
"""Pages that are not in this list begin in an empty folder."""

INTEGRATIONS = {
    "docs/how-to/dagster.md": "dagster",
    "docs/how-to/graph-databases.md": "ladybug",
    "docs/how-to/mlflow.md": "mlflow",
}
"""Page -> package that it needs; .ci/slow installs those that are not in the extra ``dev``."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Folders with a store, each made when it is first asked for."""
    folders: dict[str, Path] = {}

    def folder_of(store: str) -> Path:
        if store not in folders:
            folders[store] = tmp_path_factory.mktemp(store)
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(folders[store])
                patch.setenv("LOGNAME", "anna")
                STORES[store]()
        return folders[store]

    return folder_of


def _parameters() -> list[object]:
    # Pages with the same store stay in one process, where it is made once.
    return [
        pytest.param(page, marks=_marks(page, STARTS.get(page, Start())), id=page)
        for page in WITH_CODE
    ]


def _marks(page: str, start: Start) -> list[pytest.MarkDecorator]:
    marks = [pytest.mark.xdist_group(f"pages {start.store or page}")]
    if page in INTEGRATIONS:
        # These packages take long to import, and what they warn of is theirs.
        marks += [slow, pytest.mark.filterwarnings("ignore")]
    return marks


@pytest.mark.parametrize("page", _parameters())
def test_a_page_does_what_it_says(
    page: str, made: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = STARTS.get(page, Start())
    if page in INTEGRATIONS:
        pytest.importorskip(INTEGRATIONS[page])
    if start.store:
        shutil.copytree(made(start.store), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    # Whom getpass.getuser finds; the width of a table depends on it.
    monkeypatch.setenv("LOGNAME", "anna")
    monkeypatch.setenv("COLUMNS", "80")
    if start.tables:
        write_tables(Path())
    if start.records:
        lay_out_records(start.records)
    for name in ("results", "experiments") if start.results else ():
        Path(name).symlink_to(ROOT / name)
    with Terminal({}, lambda code: any(one.holds(page, code) for one in LEFT_OUT)) as terminal:
        for block in blocks(start.after) if start.after else ():
            if block.kind == "python":
                terminal.run(block)
        for block in blocks(page):
            terminal.run(block)


@pytest.mark.parametrize("left_out", LEFT_OUT, ids=lambda one: f"{one.page} {one.beginning}")
def test_what_is_left_out_is_still_there(left_out: LeftOut) -> None:
    code = [
        one
        for block in blocks(left_out.page)
        if block.kind in CODE
        for one in (
            [block.text] if block.kind == "python" else [step.command for step in steps_of(block)]
        )
    ]
    assert any(left_out.holds(left_out.page, one) for one in code)


def test_blocks_of_every_kind_are_thought_of() -> None:
    kinds = {(page, block.kind) for page in pages() for block in blocks(page)}
    assert [one for one in kinds if one[1] not in CODE | FILES | READ_ONLY] == []
    assert set(STARTS) <= set(WITH_CODE)


def test_no_command_hides_in_a_block_that_nobody_runs() -> None:
    hidden = [
        (page, block.line)
        for page in pages()
        for block in blocks(page)
        if block.kind in ("text", "xml") and block.text.startswith(("nodegraft ", "$ ", ">>> "))
    ]
    assert hidden == []


@pytest.mark.parametrize(
    "text",
    [
        "```\nnodegraft history\n```\n",
        "- so:\n\n  ```console\n  nodegraft history\n  ```\n",
        "~~~console\nnodegraft history\n~~~\n",
        "```console\nnodegraft history\n\n```python\n1\n```\n",
    ],
)
def test_a_block_that_would_not_be_run_is_found(text: str) -> None:
    assert len(blocks_in("```console\nls\n```\n")) == 1
    with pytest.raises(AssertionError, match="a block"):
        blocks_in(text)


WRONG = [
    Block("python", 'sorted("ba")  # ["b", "a"]\n', 1),
    Block("pycon", ">>> 1 + 1\n3\n", 1),
    Block("console", "ls nowhere\n", 1),
    Block("console", "$ echo one\ntwo\n", 1),
    Block("console", "nodegraft history nowhere\n", 1),
]


@pytest.mark.parametrize("block", WRONG, ids=lambda one: one.text)
def test_a_block_that_is_wrong_is_found(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Terminal({}, lambda _: False) as terminal, pytest.raises(AssertionError):
        terminal.run(block)


def test_a_line_that_does_not_come_out_is_found() -> None:
    output = ("one 1.50", "two", "three", "four")
    assert missing(("one 1.51", "…", "four"), output) is None
    assert missing(("one 1.50", "t…", "three", "…"), output) is None
    assert missing(("one 1.53", "…"), output) == "one 1.53"
    assert missing(("one 1.50", "three", "…"), output) == "three"
    assert missing(("one 1.50", "two", "three"), output) == "(not shown) four"
    assert missing(("…", "five"), output) == "five"
