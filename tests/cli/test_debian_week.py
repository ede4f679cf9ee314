"""The week with Debian: the script runs on the real packages, and its page shows what it says."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.pages import ROOT, SHELL, Block, blocks, missing, steps_of

PAGE = "docs/tutorials/a-week-with-debian.md"
SCRIPT = ROOT / "examples/a_week_with_debian.py"


@pytest.mark.real_data
def test_the_page_shows_what_the_script_says(real_data: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", SCRIPT, "--data", real_data],
        env={**os.environ, "COLUMNS": "80", "LOGNAME": "anna"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stdout.splitlines() if not line.startswith("# ")]
    story = " ".join(re.findall(r"^# (.*)$", done.stdout, re.MULTILINE))
    # The commands that bring the files are run by tests/test_debian_index.py.
    end = (ROOT / PAGE).read_text().split("(the-data)=")[0].count("\n")
    page = [block for block in blocks(PAGE) if block.line < end]
    assert len(page) > 10
    told = [step for block in page if block.kind in SHELL for step in steps_of(block)]
    run = list(steps_of(Block("console", "\n".join(said) + "\n", 1)))
    commands = [[shlex.split(step.command) for step in some] for some in (told, run)]
    assert commands[0] == commands[1]
    for shown, real in zip(told, run, strict=True):
        assert shown.shown is not None
        assert real.shown is not None
        assert missing(shown.shown, real.shown) is None, real
    for block in page:
        assert block.kind != "text" or " ".join(block.text.split()) in story
