"""Measure whether prediction sets of ``graft`` hold the class as often as was asked for.

    python -m studies.prediction_sets --data DIR     # measure, then write the page
    python -m studies.prediction_sets                # write the page again

On the streams of the benchmark, after the last session: every test node of a known class is asked
about, and every node of a new class that is not a label. Writes
``studies/records/prediction-sets.json`` and ``docs/explanation/prediction-sets-measured.md``.
"""

from collections.abc import Sequence
from itertools import product
from time import process_time

import numpy as np
from studies.record_file import GRAPHS, PAGES, Record, rounded

from nodegraft.analysis.rendering.table import Table
from nodegraft.base.events import SILENT
from nodegraft.evaluation.protocol import teach
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.lab.report.tables import percent
from nodegraft.methods.graft import Graft
from nodegraft.model.best_classes import classes_above
from nodegraft.streams.arrival import Arrival
from studies import record_file

RECORDS = record_file.FOLDER / "prediction-sets.json"
CONTAINED = ("known", "new", "known_by_threshold", "new_by_threshold")
"""Shares of sets that contain the class; by the threshold alone without the rule that the likeliest
class is always in the set."""

COVERAGES = (0.8, 0.9, 0.95)
ARRIVALS: tuple[Arrival, ...] = ("growing", "present")


def main() -> None:
    """Measure if there is data to measure on, and write the page."""
    options = record_file.parser(__doc__).parse_args()
    if options.data:
        wanted = product(options.graphs, range(options.seeds), ARRIVALS)
        names = ("graph", "seed", "arrival")
        record_file.measure_missing(RECORDS, names, wanted, options.data, measured)
    (PAGES / "prediction-sets-measured.md").write_text(page(record_file.read(RECORDS)))


def measured(data: LoadedDataset, seed: int, arrival: Arrival) -> Record:
    """Coverage and sizes of sets after the last session of one stream."""
    stream, model = data.stream(seed=seed, arrival=arrival), Graft(seed=seed)
    for session in stream:
        teach(model, session, stream, SILENT)
    view, query = session.view, session.query
    start = process_time()
    calibration = model.calibrate_sets(view)
    seconds = process_time() - start
    probabilities = model.probabilities(view, model.score_rows(view, query.rows()))
    targets = query.targets(model.classes_)
    is_new = np.isin(
        targets, np.flatnonzero([known_class.session for known_class in model._table.classes])
    )
    record: Record = {
        "classes": len(model.classes_),
        "accuracy": rounded(float((probabilities.argmax(axis=1) == targets).mean())),
        "calibration_seconds": round(seconds, 1),
    }
    for coverage in COVERAGES:
        thresholds = calibration.thresholds(coverage)
        sets = classes_above(probabilities, thresholds, model.classes_)
        sizes = np.array([len(classes) for classes in sets])
        names = zip(sets, targets.tolist(), strict=True)
        holds = np.array([model.classes_[target] in classes for classes, target in names])
        alone = probabilities[np.arange(targets.size), targets] >= thresholds[targets]
        record[str(coverage)] = {
            "known": rounded(float(holds[~is_new].mean())),
            "new": rounded(float(holds[is_new].mean())),
            "known_by_threshold": rounded(float(alone[~is_new].mean())),
            "new_by_threshold": rounded(float(alone[is_new].mean())),
            "size_known": rounded(float(sizes[~is_new].mean())),
            "size_new": rounded(float(sizes[is_new].mean())),
            "one_class": rounded(float((sizes == 1).mean())),
        }
    return record


def page(records: Sequence[Record]) -> str:
    """Write a table: a row for each graph, arrival and coverage."""
    rows = []
    for graph, arrival, coverage in product(GRAPHS, ARRIVALS, COVERAGES):
        some = record_file.matching(records, graph=graph, arrival=arrival)
        if some:
            found = [record[str(coverage)] for record in some]
            rows.append(
                [
                    graph,
                    f"`{arrival}`",
                    f"{100 * coverage:g}",
                    *(percent([record[name] for record in found]) for name in CONTAINED),
                    *(
                        _mean([record[name] for record in found])
                        for name in ("size_known", "size_new")
                    ),
                    f"{100 * np.mean([record['one_class'] for record in found]):.0f}",
                    f"{np.mean([record['classes'] for record in some]):.0f}",
                    _mean([record["calibration_seconds"] for record in some]),
                    str(len(some)),
                ]
            )
    columns = [
        *("graph", "arrival", "coverage asked for, %"),
        *("known classes, %", "new classes, %", "known, by threshold alone", "new"),
        *("classes in a set, known", "new", "sets of one class, %"),
        *("classes in all", "calibration, CPU s", "seeds"),
    ]
    table = Table.of(columns, rows).markdown()
    return f"<!-- Written by studies/prediction_sets.py. -->\n\n{table}\n"


def _mean(numbers: Sequence[float]) -> str:
    return f"{np.mean(numbers):.1f}"


if __name__ == "__main__":
    main()
