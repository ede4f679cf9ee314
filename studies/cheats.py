"""Accuracy of cheating methods in the evaluating process and in a sealed one.

    python -m studies.cheats               # measure all, then write the table

The graph is noise, so that an honest method classifies like chance (10 %). Writes
``studies/records/cheats.json``, and from it ``docs/explanation/cheats-measured.md``.
"""

import json
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from studies.cheating import CHANCE, CHEATS, hopeless_stream, write_raw_files
from studies.record_file import FOLDER, PAGES, Record

from nodegraft.analysis.rendering.table import Table
from nodegraft.base.parameters.build import build
from nodegraft.evaluation import protocol
from nodegraft.evaluation.sealed.method import SealedMethod, evaluate_sealed
from nodegraft.lab.benchmark.record import this_code

RECORDS = FOLDER / "cheats.json"


def main() -> None:
    """Measure all cheats and write the table."""
    with TemporaryDirectory() as folder:
        write_raw_files(Path(folder))
        records = [
            {"cheat": name, "unsealed": unsealed(name, folder), **sealed(name, folder)}
            for name in CHEATS
        ]
    written = [{**record, "source": this_code()} for record in records]
    RECORDS.write_text(json.dumps(written, indent=1) + "\n")
    (PAGES / "cheats-measured.md").write_text(page_text(written))


def unsealed(name: str, folder: str) -> float:
    """Return the accuracy of a cheat after the last session, in this process.

    Args:
        name: What it does.
        folder: Folder of the raw files.
    """
    cls, arrival = CHEATS[name]
    before = vars(protocol)["recalls"]
    try:
        result = protocol.evaluate(build(cls, _parameters(cls, folder)), hopeless_stream(arrival))
    finally:
        vars(protocol)["recalls"] = before  # one of the cheats replaces it
    return round(result.sessions[-1].macro_accuracy, 4)


def sealed(name: str, folder: str) -> Record:
    """Return the accuracy of a cheat after the last session in a sealed process.

    Args:
        name: What it does.
        folder: Folder of the raw files.
    """
    cls, arrival = CHEATS[name]
    place, parameters = f"{cls.__module__}:{cls.__name__}", _parameters(cls, folder)
    with SealedMethod(place, parameters=parameters, forbidden=[folder]) as method:
        result = evaluate_sealed(method, hopeless_stream(arrival))
    accuracy = round(result.sessions[-1].macro_accuracy, 4)
    return {"sealed": accuracy, "isolation": asdict(method.isolation)}


def _parameters(cls: type, folder: str) -> dict[str, Any]:
    return {"folder": folder} if hasattr(cls, "folder") else {}


def page_text(records: list[Record]) -> str:
    """Return the table.

    Args:
        records: All cheats.
    """
    rows = [
        [record["cheat"], f"{100 * record['unsealed']:.1f}", f"{100 * record['sealed']:.1f}"]
        for record in records
    ]
    caption = f"macro accuracy after the last session in percent; chance is {100 * CHANCE:.0f}"
    table = Table.of(["cheat", "unsealed", "sealed"], rows, caption).markdown()
    return f"<!-- Written by studies/cheats.py. -->\n\n{table}\n"


if __name__ == "__main__":
    main()
