"""Writes the tables of suites into Markdown files: ``python -m docs.refresh_tables FILE ...``

Tables stand between ``<!-- nodegraft lab table experiments/NAME.toml -->`` and ``<!-- end -->``,
and come from the records in ``results/``; CI fails where a file does not say what they do. The name
of a table behind that of the suite asks for this one alone.
"""

import re
import sys
from dataclasses import replace
from pathlib import Path

from nodegraft.lab.benchmark.archive import read_documents
from nodegraft.lab.benchmark.suite import Suite
from nodegraft.lab.report.tables import suite_tables

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"(<!-- nodegraft lab table (?P<suite>\S+)(?: (?P<table>\S+))? -->\n).*?(\n<!-- end -->)",
    flags=re.DOTALL,
)


def refreshed(text: str) -> str:
    """The text with every table made anew."""
    records = read_documents(ROOT / "results")

    def table(match: re.Match[str]) -> str:
        suite = Suite.read(ROOT / match["suite"])
        wanted = replace(suite, tables=(match["table"],)) if match["table"] else suite
        return f"{match[1]}\n{suite_tables(wanted, records)}\n{match[4]}"

    return BLOCK.sub(table, text)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(refreshed(Path(name).read_text()))
