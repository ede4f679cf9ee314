from pathlib import Path

import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.lab.benchmark.archive import Archive, read_documents
from nodegraft.lab.benchmark.suite import Suite
from nodegraft.lab.report.page import write_report

SUITE = """
arrival = "with-class"
title = "Small"
tables = ["comparison"]
figures = ["curves"]
seeds = [0, 1]
datasets = [{ dataset = "synthetic", set = { nodes = 300, classes = 8 } }]
methods = [{ method = "sgc-mean" }, { method = "text-only" }]
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of three of the four jobs, and the suite beside them."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "suites").mkdir()
    (folder / "suites" / "small.toml").write_text(SUITE)
    (folder / "suites" / "other.toml").write_text(SUITE.replace("text-only", "ridge"))
    for entry in Suite.read(folder / "suites" / "small.toml").entries[:3]:
        loaded = entry.job.load()
        Archive(folder).write(entry.job.run(loaded, entry.job.stream(loaded)))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {
        place.relative_to(folder).as_posix(): place.read_bytes()
        for place in folder.rglob("*")
        if place.is_file()
    }


def test_a_report_is_a_page_and_files_that_come_out_the_same_twice(
    runs: Path, tmp_path: Path
) -> None:
    place = write_report(runs, runs / "suites", tmp_path / "one")
    assert place == tmp_path / "one" / "index.html"
    write_report(runs, runs / "suites", tmp_path / "two")
    made = contents(tmp_path / "one")
    assert made == contents(tmp_path / "two")
    assert {name for name in made if "small" in name} == {
        "tables/small-comparison.md",
        "tables/small-comparison.tex",
        "figures/small-curves-synthetic.svg",
    }


def test_numbers_of_the_page_are_those_of_the_records(runs: Path, tmp_path: Path) -> None:
    page = write_report(runs, runs / "suites" / "small.toml", tmp_path).read_text()
    lone = [run for run in read_documents(runs) if run["method"] == "text-only"]
    assert len(lone) == 1
    share = f"{100 * lone[0]['summary']['last_accuracy']:.1f}"
    assert '<th scope="row">text-only <span class="n">(n = 1)</span></th>' in page
    assert f'<td class="number">{share}</td>' in page
    assert "3 of 4 jobs recorded, 1 to 2 seeds" in page
    assert str(tmp_path) not in page
    assert str(runs) not in page


def test_the_main_suite_comes_first(runs: Path, tmp_path: Path) -> None:
    suites = tmp_path / "suites"
    suites.mkdir()
    (suites / "growing.toml").write_text(SUITE.replace("Small", "The main one"))
    (suites / "a.toml").write_text(SUITE)
    page = write_report(runs, suites, tmp_path).read_text()
    assert page.index("<h2>The main one") < page.index("<h2>Small")


def test_the_note_of_a_suite_is_on_the_first_screen_and_in_its_section(
    runs: Path, tmp_path: Path
) -> None:
    (tmp_path / "noted.toml").write_text(f'note = "Seen < once."\n{SUITE}')
    page = write_report(runs, tmp_path / "noted.toml", tmp_path).read_text()
    first, _, rest = page.partition("</header>")
    assert "Seen &lt; once." in first
    assert "Seen &lt; once." in rest


def test_errors_say_what_to_do(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"no suites at nowhere: .*--suites"):
        write_report(runs, Path("nowhere"), tmp_path)
    with pytest.raises(ParameterError, match=r"no run records in .*: make some with"):
        write_report(tmp_path, runs / "suites", tmp_path)
    (tmp_path / "lone.toml").write_text(SUITE.replace("seeds = [0, 1]", "seeds = [7]"))
    with pytest.raises(ParameterError, match=r"No record in .* belongs to a suite"):
        write_report(runs, tmp_path / "lone.toml", tmp_path)
