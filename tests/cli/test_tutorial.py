"""Pages show what commands say: all are run, in order, in an empty folder."""

from pathlib import Path

import pytest

from tests.cli.pages import ROOT, check, missing, steps

FIRST = {"example", "init", "add", "predict", "undo"}
PAGES = {
    "README.md": FIRST,
    "docs/tutorials/first-class.md": FIRST | {"explain", "history", "promote"},
    "docs/how-to/evaluate.md": {"evaluate", "promote", "card"},
}
USER = "anna"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_what_comes_out(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # Whom getpass.getuser finds; the width of a table depends on it.
    monkeypatch.setenv("LOGNAME", USER)
    monkeypatch.setenv("COLUMNS", "80")
    run = [step for step in steps((ROOT / page).read_text()) if not step.command.startswith("pip ")]
    for step in run:
        check(step)
    used = {step.command.split()[1] for step in run}
    assert used >= PAGES[page]


def test_a_line_that_does_not_come_out_is_found() -> None:
    output = ("one 1.50", "two", "three", "four")
    assert missing(("one 1.51", "…", "four"), output) is None
    assert missing(("one 1.50", "t…", "three", "…"), output) is None
    assert missing(("one 1.53", "…"), output) == "one 1.53"
    assert missing(("one 1.50", "three", "…"), output) == "three"
    assert missing(("one 1.50", "two", "three"), output) == "(not shown) four"
    assert missing(("…", "five"), output) == "five"
