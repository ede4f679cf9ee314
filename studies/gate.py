"""Classes that a store's gate refuses: correct new classes, and mixtures of two known ones.

    python -m studies.gate --data DIR     # measure what is missing, then write the table
    python -m studies.gate                # write the table again

A third of the classes, ten at most, are left out and taught one at a time by five nodes; beside
each, a class of three nodes of one known class and two of another. Two thirds of the labels of the
known classes teach or check. Writes ``studies/records/gate.json``, graph by graph and seed by seed,
and from it ``docs/how-to/gate-measured.md``.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from studies.record_file import PAGES, Record

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.preview import compare
from nodegraft.analysis.rendering.table import Table
from nodegraft.analysis.snapshot import State, first_state
from nodegraft.base.seeds import Seeds
from nodegraft.graph.keys import Key
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from studies import record_file

RECORDS = record_file.FOLDER / "gate.json"
MOST, SHOTS = 10, 5
KINDS = {"honest": "correct classes", "mixed": "mixtures of known classes"}


def main() -> None:
    """Measure what is missing if data is given, and write the table."""
    options = record_file.parser(__doc__, seeds=2).parse_args()
    if options.data:
        wanted = product(options.graphs, range(options.seeds))
        record_file.measure_missing(RECORDS, ("graph", "seed"), wanted, options.data, measured)
    (PAGES.parent / "how-to" / "gate-measured.md").write_text(page_text(record_file.read(RECORDS)))


def measured(data: LoadedDataset, seed: int) -> Record:
    """Create a store, and preview many classes one at a time."""
    graph, draws = data.graph, Seeds(seed).generator("gate")
    nodes: dict[str, list[Key]] = {
        name: draws.permutation(graph.key_array_of(rows)).tolist()
        for name, rows in sorted(data.labels.items())
    }
    names = draws.permutation(sorted(nodes)).tolist()
    new, known = names[: min(MOST, len(names) // 3)], names[min(MOST, len(names) // 3) :]
    taught = {name: nodes[name][: 2 * len(nodes[name]) // 3] for name in known}
    state = first_state(graph, StoreLabels().added(taught), "graft", {})
    honest = [nodes[name][:SHOTS] for name in new]
    free = {name: nodes[name][len(taught[name]) :] for name in known}
    return {
        "honest": [asked(state, examples) for examples in honest],
        "mixed": [asked(state, examples) for examples in mixtures(free, len(honest), draws)],
    }


def mixtures(free: dict[str, list[Key]], count: int, draws: np.random.Generator) -> list[list[Key]]:
    """Draw three nodes of a class and two of another, each node once."""
    found = []
    for _ in range(count):
        rich = [name for name, keys in free.items() if len(keys) >= SHOTS]
        first, other = draws.choice(rich, 2, replace=False)
        found.append([*free[first][:3], *free[other][:2]])
        free[first], free[other] = free[first][3:], free[other][2:]
    return found


def asked(state: State, nodes: list[Key]) -> Record:
    """Return the verdict of the gate on a class."""
    seen = compare(
        state, state.relabelled(Change("add", {"classes": {"?": nodes}}).applied(state.labels))
    )
    return {
        "recognised": seen.new.right["?"],
        "sure_before": round(seen.prior["?"].probability, 4),
        "taken_for": list(seen.prior["?"].classes.values()),
        "forgetting": round(seen.forgetting or 0.0, 5),
        "noise": round(seen.noise or 0.0, 5),
        "flipped": seen.flipped,
        "refused": len(seen.objections()),
    }


def page_text(records: Sequence[Record]) -> str:
    """Return a table with a row for each graph."""
    rows = []
    for graph in dict.fromkeys(record["graph"] for record in records):
        some = record_file.matching(records, graph=graph)
        cells = []
        for kind in KINDS:
            verdicts = [verdict["refused"] > 0 for record in some for verdict in record[kind]]
            cells.append(f"{sum(verdicts)} of {len(verdicts)}")
        rows.append([graph, str(len(some)), *cells])
    heads = ["graph", "seeds", *(f"{name}: refused" for name in KINDS.values())]
    return f"<!-- Written by studies/gate.py. -->\n\n{Table.of(heads, rows).markdown()}\n"


if __name__ == "__main__":
    main()
