"""The page on errors names codes and reasons that the program has."""

import re

from tests.cli.pages import ROOT


def test_every_code_is_one_of_the_program() -> None:
    page = (ROOT / "docs/how-to/troubleshooting.md").read_text()
    cells = re.findall(r"^\| (`[^|]+) \|", page, re.MULTILINE)
    codes = re.findall(r"`(\w+)`", " ".join(cells)) + re.findall(r"reason `(\w+)`", page)
    source = "".join(file.read_text() for file in (ROOT / "src").rglob("*.py"))
    assert len(codes) >= 5
    assert [code for code in codes if f'"{code}"' not in source] == []
