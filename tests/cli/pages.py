"""Pages as they are read: blocks of code, and in them what is typed and what comes out of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = "docs/reference/"
FENCE = re.compile(r"^```(\S+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANY_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
"""Also those of blocks that nobody runs: without a language, or within a list."""

SHELL = frozenset({"console", "bash", "sh", "shell"})
CODE = SHELL | {"python", "pycon"}
"""Kinds of blocks that are run."""

FILES = frozenset({"toml"})
"""Kinds of blocks that are written to the file which their first line names."""

READ_ONLY = frozenset({"text", "nginx", "xml", "yaml", "{include}", "{image}", "{toctree}"})
"""Kinds of blocks that nobody can run here: what other programs are told, and what Sphinx is."""

PROMPTS = {"pycon": ">>> "} | dict.fromkeys(SHELL, "$ ")
DATE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
DECIMAL = re.compile(r"\d+\.\d+")
OMITTED = "…"


@dataclass(frozen=True)
class Block:
    """A block of code in a page."""

    kind: str
    """The language that stands behind its fence."""

    text: str
    """What is in it."""

    line: int
    """Where in the page it begins."""


@dataclass(frozen=True)
class Step:
    """Something that is typed, and what the page says comes out of it."""

    command: str
    shown: tuple[str, ...] | None
    """None where the page shows commands alone."""


def pages() -> list[str]:
    """All pages whose code is run: README and what is under docs/, but for generated ones."""
    found = sorted(str(file.relative_to(ROOT)) for file in (ROOT / "docs").rglob("*.md"))
    kept = [page for page in found if not page.startswith((GENERATED, "docs/_build"))]
    return ["README.md", *kept]


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in its order."""
    return blocks_in((ROOT / page).read_text())


def blocks_in(text: str) -> list[Block]:
    """The same of the text of a page; one that has others, too, is refused."""
    found = [
        Block(one[1], one[2], text.count("\n", 0, one.start()) + 1) for one in FENCE.finditer(text)
    ]
    left = ANY_FENCE.search(FENCE.sub("", text))
    endless = [one.line for one in found if ANY_FENCE.search(one.text)]
    assert left is None, f"a block without a language, or not at the margin: {text[:80]!r}"
    assert not endless, f"a block that does not end: line {endless[0]}"
    return found


def steps_of(block: Block) -> Iterator[Step]:
    """What is typed in a block of commands; where no line has a prompt, all lines are."""
    joined = block.text.replace("\\\n", " ")
    _, *typed = re.split(f"^{re.escape(PROMPTS[block.kind])}", joined, flags=re.MULTILINE)
    if not typed:
        yield from (Step(line, None) for line in joined.splitlines() if line.strip())
    for part in typed:
        command, _, output = part.partition("\n")
        yield Step(command, lines(output))


def lines(output: str) -> tuple[str, ...]:
    """Without what differs from day to day, blanks at the end, and blank lines."""
    dated = DATE.sub("(date)", output.replace("\xa0", " "))
    return tuple(line.rstrip() for line in dated.splitlines() if line.strip())


def missing(shown: tuple[str, ...], output: tuple[str, ...]) -> str | None:
    """The first line that is shown and does not come out where it is shown; None if all do."""
    place, skipping = 0, False
    for line in shown:
        if line.strip() == OMITTED:
            skipping = True
            continue
        rest = output[place:] if skipping else output[place : place + 1]
        found = next((offset for offset, one in enumerate(rest) if alike(line, one)), None)
        if found is None:
            return line
        place, skipping = place + found + 1, False
    return None if skipping or place == len(output) else f"(not shown) {output[place]}"


def alike(shown: str, line: str) -> bool:
    """The same, but for what is left out, and for the last digit of what was computed."""
    left_out = re.escape(DECIMAL.sub("#", shown)).replace(OMITTED, ".*")
    if not re.fullmatch(left_out, DECIMAL.sub("#", line)):
        return False
    if OMITTED in shown:
        return True
    pairs = zip(DECIMAL.findall(shown), DECIMAL.findall(line), strict=True)
    return all(abs(float(a) - float(b)) < 1.5 * 10 ** -len(a.split(".")[1]) for a, b in pairs)
