"""Growth of time and memory with the graph, from ten thousand nodes to ten million.

    python -m studies.scale --folder DIR     # measure what is missing, then write the page
    python -m studies.scale --folder DIR --nodes 20000 100000
    python -m studies.scale --folder DIR --keys text --steps build hops fit teach
    python -m studies.scale                  # write the page again

Tables with a power law of degrees are drawn (``performance.power_law``), 20 entries and 128 columns
of half precision for each node, 200 classes, of which 195 are known by a hundredth of their nodes,
five at least. Each step (``studies.scale_steps``) is a process of its own on one thread. The
largest size needs 25 GB of disk, 15 GB of memory for the bare kernel and about an hour. Writes
``studies/records/scale.json``, step by step, and from it ``docs/explanation/scale-measured.md`` and
``scale.svg``.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from studies.record_file import PAGES, Record
from studies.scale_steps import DEGREE, STEPS, TEXT_KEYS

from nodegraft.analysis.rendering.drawing import (
    GREY,
    INK,
    PALETTE,
    Figure,
    figure_style,
    panel,
    save_svg,
)
from nodegraft.analysis.rendering.table import Table
from studies import record_file

RECORDS = record_file.FOLDER / "scale.json"
SIZES = (20_000, 100_000, 1_000_000, 10_000_000)
FITTED_FROM = 100_000
"""Exponents are those of the straight line through the sizes from here on."""

MEASURED = {
    "build": "build from Parquet",
    "bare hops": "two hops, bare kernel in memory",
    "kept hops": "two hops, stored on disk",
    "fit": "fit",
    "score all": "score all nodes",
    "open to answer": "open, to the first prediction",
    "teach five classes": "add five classes",
    "answer after teaching": "first prediction after it",
    "grow": "grow by 100 nodes, 1,000 edges",
    "answer after growth": "first prediction after it",
}
WHOLE = ("build", "kept hops", "score all")
"""What touches every node, and is said for a billion of them."""

MEMORY = {
    "build": "build from Parquet",
    "hops": "two hops, stored on disk",
    "fit": "fit",
    "teach": "open, add classes, predict",
    "grow": "open, grow, predict",
    "score all": "score all nodes",
}
TEXTS = ("build", "open to answer", "grow", "answer after growth")
"""What looks keys up, and is told for keys that are texts, too."""

DRAWN = ("build", "score all", "kept hops", "open to answer", "teach five classes", "grow")

BELOW = {"bare hops": -7, "score all": -7, "open to answer": -7}
"""Points from the end of a line to its name, where another name is close above."""

Values = Mapping[int, float]
"""Of one measure, by the number of nodes."""


def main() -> None:
    """Measure what is missing if a folder is given, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--folder", type=Path, help="measure what is missing, in this folder")
    parser.add_argument("--nodes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--steps", nargs="+", default=tuple(STEPS), choices=STEPS)
    parser.add_argument("--keys", default="integer", choices=("integer", "text"))
    options = parser.parse_args()
    if options.folder:
        ending = TEXT_KEYS if options.keys == "text" else ""
        wanted = product(options.nodes, [f"{step}{ending}" for step in options.steps])
        make = partial(measured, options.folder)
        record_file.add_missing(RECORDS, ("nodes", "step"), wanted, make)
    records = record_file.read(RECORDS)
    save_svg(drawn(records), PAGES / "scale.svg")
    (PAGES / "scale-measured.md").write_text(page_text(records))


def measured(folder: Path, nodes: int, step: str) -> Record:
    """Measure a step in a new process, so that peaks of memory do not add up."""
    place = folder / f"{nodes}{TEXT_KEYS if step.endswith(TEXT_KEYS) else ''}"
    place.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "studies.scale_steps", step, str(place), str(nodes)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603
    found: Record = json.loads(run.stdout)
    return found


def values_of(records: Sequence[Record], measure: str) -> Values:
    """Return a measure by number of nodes."""
    return {
        record["nodes"]: record["seconds"][measure]
        for record in records
        if measure in record["seconds"]
    }


def exponent(values: Values) -> str:
    """Return the slope of a straight line through the larger sizes, both axes logarithmic.

    >>> exponent({10**5: 1.0, 10**6: 10.0})
    '1.00'
    """
    larger = {nodes: value for nodes, value in values.items() if nodes >= FITTED_FROM}
    if len(larger) < 2:
        return "–"
    slope = np.polyfit(np.log(list(larger)), np.log(list(larger.values())), 1)[0]
    return f"{slope:.2f}"


def page_text(records: Sequence[Record]) -> str:
    """Return the page: two tables and the figure."""
    sizes = sorted({record["nodes"] for record in records})
    head = [f"{nodes:,} nodes" for nodes in sizes]
    rows = []
    for measure, name in MEASURED.items():
        values = values_of(records, measure)
        rows.append([name, *(_seconds(values.get(nodes)) for nodes in sizes), exponent(values)])
    bare, kept = values_of(records, "bare hops"), values_of(records, "kept hops")
    both = [f"{kept[nodes] / bare[nodes]:.2f}" if nodes in bare and nodes in kept else "–"
            for nodes in sizes]  # fmt: skip
    rows.insert(3, ["ratio: disk to memory", *both, ""])
    memory = {
        (record["nodes"], record["step"]): f"{record['anonymous_bytes'] / 1e6:,.0f}"
        for record in records
    }
    held = [[name, *(memory.get((n, step), "–") for n in sizes)] for step, name in MEMORY.items()]
    return "\n\n".join(
        [
            "<!-- Written by studies/scale.py. -->",
            "**CPU seconds, and the exponent from 10⁵ nodes on**",
            Table.of(["", *head, "exponent"], rows).markdown(),
            f"```{{image}} scale.svg\n:alt: {described(records)}\n```",
            "**Peak anonymous memory (not backed by files), in MB**",
            Table.of(["", *head], held).markdown(),
            "**Text keys instead of integers**",
            _with_texts(records).markdown(),
            "**Steps that visit every node: at the largest size, and extrapolated in proportion**",
            _billion(records).markdown() + "\n",
        ]
    )


def _with_texts(records: Sequence[Record]) -> Table:
    """Return the tables for text keys: seconds by size, and memory of the build."""
    texts = [record for record in records if record["step"].endswith(TEXT_KEYS)]
    sizes = sorted({record["nodes"] for record in texts})
    rows = []
    for measure in TEXTS:
        values = values_of(texts, f"{measure}{TEXT_KEYS}")
        cells = [_seconds(values.get(nodes)) for nodes in sizes]
        rows.append([MEASURED[measure], *cells, exponent(values)])
    peaks = {
        record["nodes"]: record["anonymous_bytes"] for record in texts if "build" in record["step"]
    }
    held = [f"{peaks[nodes] / 1e6:,.0f} MB" for nodes in sizes]
    rows.append(["memory of the build", *held, exponent(peaks)])
    return Table.of(["", *(f"{nodes:,} nodes" for nodes in sizes), "exponent"], rows)


def _billion(records: Sequence[Record]) -> Table:
    """Return microseconds per node at the largest size, and core hours for a billion nodes."""
    rows = []
    for measure in WHOLE:
        values = values_of(records, measure)
        each = values[max(values)] / max(values)
        cells = [f"{max(values):,}", f"{1e6 * each:.1f}", f"{1e9 * each / 3600:.1f}"]
        rows.append([MEASURED[measure], *cells])
    return Table.of(["", "nodes", "µs a node", "core hours for 10⁹ nodes"], rows)


def _seconds(value: float | None) -> str:
    if value is None:
        return "–"
    if value < 0.1:
        return f"{1000 * value:.1f} ms"
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


@figure_style
def drawn(records: Sequence[Record]) -> Figure:
    """Draw seconds against entries, both logarithmic, with the line of the bare kernel."""
    figure, axes = panel("", "directed edges (log scale)", "CPU seconds (log scale)", (6.4, 4.4))
    axes.set_xscale("log")
    axes.set_yscale("log")
    lines = [("bare hops", INK), *zip(DRAWN, PALETTE, strict=True)]
    for measure, colour in lines:
        values = values_of(records, measure)
        if not values:
            continue
        edges = [DEGREE * nodes for nodes in values]
        style = "--" if measure == "bare hops" else "o-"
        axes.plot(edges, list(values.values()), style, color=colour, markersize=3.5, lw=1.2)
        axes.annotate(
            MEASURED[measure],
            (edges[-1], list(values.values())[-1]),
            xytext=(5, BELOW.get(measure, 4)),
            textcoords="offset points",
            color=colour,
            va="center",
            annotation_clip=False,
        )
    axes.set_xlim(right=DEGREE * SIZES[-1] * 60)
    axes.grid(color=GREY, alpha=0.25, lw=0.5)
    return figure


def described(records: Sequence[Record]) -> str:
    """Describe the figure in words."""
    ends = []
    for measure in ("bare hops", *DRAWN):
        values = values_of(records, measure)
        if values:
            first, last = min(values), max(values)
            ends.append(
                f"{MEASURED[measure]} from {_seconds(values[first])} to {_seconds(values[last])}"
            )
    return f"Seconds from the smallest graph to the largest: {'; '.join(ends)}."


if __name__ == "__main__":
    main()
