"""README's table of results from run records: ``python benchmarks/results_table.py results``."""

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

COLUMNS = (
    ("A0", "first_accuracy"),
    ("last", "last_accuracy"),
    ("known", "last_known_accuracy"),
    ("novel", "last_novel_accuracy"),
)


def cell(shares: list[float]) -> str:
    """Mean and half the width of its 95 % interval (Student's t over seeds), in percent."""
    values = 100 * np.array(shares)
    if values.size < 2:
        return f"{values.mean():.1f}"
    half = stats.t.ppf(0.975, values.size - 1) * values.std(ddof=1) / np.sqrt(values.size)
    return f"{values.mean():.1f} ± {half:.1f}"


def variant(record: dict[str, Any]) -> str:
    """The method's name, with what was set differently from its default."""
    known = record["parameters"].get("pretrain_on") == "known"
    return f"{record['method']}{' (pre-trained on all known)' if known else ''}"


def table(folder: Path) -> str:
    """The Markdown table: a row for each dataset and method, columns for both protocols."""
    groups: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text())
        groups[record["dataset"], variant(record)][record["protocol"]].append(record["summary"])
    names = [name for name, _ in COLUMNS]
    head = ["dataset", "method", *names, "*leaky* A0", "*leaky* last"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for (dataset, method), protocols in sorted(groups.items()):
        strict, leaky = protocols["strict"], protocols["published (leaky)"]
        cells = [cell([run[field] for run in strict]) for _, field in COLUMNS]
        both = ("first_accuracy", "last_accuracy")
        cells += [cell([run[field] for run in leaky]) if leaky else "–" for field in both]
        lines.append("| " + " | ".join([dataset, method, *cells]) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(Path(sys.argv[1])))
