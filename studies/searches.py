"""What the searches on validation classes chose: ``python -m studies.searches`` writes the table.

From what ``nodegraft lab tune`` kept in ``experiments/search/`` to
``docs/explanation/searches-measured.md``. A score is the harmonic mean of known and new classes in
the last session of a rehearsal; the best of a few is a little lucky.
"""

import json
from pathlib import Path
from typing import Any

from studies.record_file import PAGES

from nodegraft.analysis.rendering.table import Table

SEARCHES = Path(__file__).parents[1] / "experiments" / "search"


def main() -> None:
    """Write the table."""
    (PAGES / "searches-measured.md").write_text(page_text())


def best_parameters(method: str, graph: str) -> dict[str, Any]:
    """Return the parameters that the search chose for a graph; empty without a search."""
    path = SEARCHES / f"{method}.json"
    if not path.exists():
        return {}
    chosen: dict[str, Any] = json.loads(path.read_text())["datasets"][graph]["best"]["parameters"]
    return chosen


def page_text() -> str:
    """Return a table with a row for each method and graph."""
    head = ["method", "graph", "trials", "as by default", "best", "gain", "chosen"]
    found = [json.loads(path.read_text()) for path in sorted(SEARCHES.glob("*.json"))]
    rows = [
        row(search["method"], graph, kept)
        for search in found
        for graph, kept in search["datasets"].items()
    ]
    table = Table.of(head, rows).markdown()
    return f"<!-- Written by studies/searches.py. -->\n\n{table}\n"


def row(method: str, graph: str, kept: dict[str, Any]) -> list[str]:
    """Return the row of a search; its first trial is the default."""
    default, best = kept["trials"][0], kept["best"]
    scores = [100 * trial["score"] for trial in (default, best)]
    changed = {
        name: value
        for name, value in best["parameters"].items()
        if value != default["parameters"][name]
    }
    chosen = ", ".join(f"{name} {_short(value)}" for name, value in changed.items())
    return [
        method,
        graph,
        str(len(kept["trials"])),
        *(f"{score:.1f}" for score in scores),
        f"{scores[1] - scores[0]:+.1f}",
        chosen or "as by default",
    ]


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
