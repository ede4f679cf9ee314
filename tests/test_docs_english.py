"""Pages use the words of the glossary: its last column lists those that must not come back."""

import re

import pytest

from tests.cli.pages import ROOT
from tests.test_plain_english import GLOSSARY, banned_in

NOT_PROSE = re.compile(
    r"^```.*?^```$|^\$\$.*?\$\$$|<!--.*?-->|`[^`]+`|\]\([^)]*\)|^\([\w-]+\)=$",
    re.MULTILINE | re.DOTALL,
)
"""Blocks of code, formulas, comments, code within a line, targets of links."""

ALT = re.compile(r"^:alt: (.*)$", re.MULTILINE)
"""Text alternatives of pictures, which stand in blocks."""

PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "results/README.md"]
    if page != GLOSSARY
    and page.name != "CHANGELOG.md"
    and not {"_build", "generated"} & set(page.parts)
)


def prose(text: str) -> str:
    """Return the sentences of a page, with the text alternatives of its pictures."""
    return "\n".join([NOT_PROSE.sub(" ", text), *ALT.findall(text)])


@pytest.mark.parametrize("page", PAGES)
def test_a_page_uses_the_words_of_the_glossary(page: str) -> None:
    assert banned_in(prose((ROOT / page).read_text())) == []


def test_prose_is_told_from_code() -> None:
    text = "It is sure.\n\n```console\n$ echo strangers\n```\n\nA `shelf` and [a link](at hand).\n"
    assert banned_in(prose(text)) == ["sure"]
