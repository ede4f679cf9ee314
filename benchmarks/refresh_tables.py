"""Writes the tables of suites into Markdown files: ``python benchmarks/refresh_tables.py FILE ...``

A table stands between ``<!-- nodegraft table experiments/NAME.toml -->`` and ``<!-- end -->``, and
comes from the records in ``results/``; CI fails where a file does not say what they do.
"""

import re
import sys
from pathlib import Path

from nodegraft.benchmark.results import read_records
from nodegraft.benchmark.suite import Suite
from nodegraft.report.tables import suite_tables

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"(<!-- nodegraft table (?P<suite>\S+) -->\n).*?(\n<!-- end -->)", flags=re.DOTALL
)


def refreshed(text: str) -> str:
    """The text with every table made anew."""
    records = read_records(ROOT / "results")

    def table(match: re.Match[str]) -> str:
        made = suite_tables(Suite.read(ROOT / match["suite"]), records)
        return f"{match[1]}\n{made}\n{match[3]}"

    return BLOCK.sub(table, text)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(refreshed(Path(name).read_text()))
