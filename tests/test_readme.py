from pathlib import Path

import pytest
from docs.refresh_tables import BLOCK, ROOT, refreshed

from nodegraft.lab.report.page import write_report

PAGES = [
    "README.md",
    "results/README.md",
    "docs/explanation/baselines.md",
    "docs/explanation/hag-meta.md",
]
REPORT = "results/report"


@pytest.mark.parametrize("page", PAGES)
def test_every_table_is_what_the_records_say(page: str) -> None:
    text = (ROOT / page).read_text()
    assert BLOCK.search(text)
    assert refreshed(text) == text


def test_the_report_is_what_the_records_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    write_report(Path("results"), Path("experiments"), tmp_path)
    made = {file.relative_to(tmp_path): file for file in tmp_path.rglob("*.*")}
    kept = {file.relative_to(ROOT / REPORT): file for file in (ROOT / REPORT).rglob("*.*")}
    assert made.keys() == kept.keys()
    differing = [str(name) for name in made if made[name].read_bytes() != kept[name].read_bytes()]
    assert not differing, f"make them anew: nodegraft lab report results --out {REPORT}"


def test_readme_compares_tools_like_the_page_about_it() -> None:
    page = (ROOT / "docs/explanation/comparison.md").read_text()
    rows = [row for row in page.splitlines() if row.startswith("|")]
    assert len(rows) > 2
    table = "\n".join(rows).replace("](", "](docs/explanation/")
    assert table in (ROOT / "README.md").read_text()
