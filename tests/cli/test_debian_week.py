"""The week with Debian: the script runs on the real packages, and its page shows what it says."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.pages import ROOT, missing, steps

PAGE = ROOT / "docs/tutorials/a-week-with-debian.md"
SCRIPT = ROOT / "examples/a_week_with_debian.py"
TEXT = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


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
    page = PAGE.read_text()
    told, run = list(steps(page)), list(steps("```console\n" + "\n".join(said) + "\n```\n"))
    commands = [[shlex.split(step.command) for step in some] for some in (told, run)]
    assert commands[0] == commands[1]
    for shown, real in zip(told, run, strict=True):
        assert missing(shown.shown, real.shown) is None, real
    for text in TEXT.findall(page):
        assert " ".join(text.split()) in story
