"""Records of a study: a JSON file, written after every measurement, with the hash of the code."""

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import nodegraft as ng
from nodegraft.lab.benchmark.record import this_code

FOLDER = Path(__file__).parent / "records"
PAGES = Path(__file__).parents[1] / "docs" / "explanation"
GRAPHS = ("amazon-clothing", "gentoo", "debian", "wordnet")

Record: TypeAlias = dict[str, Any]


def read(path: Path) -> list[Record]:
    """Return all records of a file."""
    return json.loads(path.read_text()) if path.exists() else []


def matching(records: Iterable[Record], **values: Any) -> list[Record]:
    """Return the records whose fields have all of the given values."""
    return [record for record in records if values.items() <= record.items()]


def measured_apart(measured: Callable[..., Record], *values: Any) -> Record:
    """Measure in a new process, which does not have the memory of the one before."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(measured, *values).result()


def rounded(value: float) -> float | None:
    """Round to four places for a record; None for NaN, which JSON does not have.

    Args:
        value: A number, or NaN.
    """
    return None if np.isnan(value) else round(value, 4)


def parser(
    document: str | None, seeds: int = 5, graphs: Sequence[str] = GRAPHS
) -> argparse.ArgumentParser:
    """Return the parser with the options of every study.

    Args:
        document: The study's own docstring.
        seeds: How many it takes by default.
        graphs: Names of the graphs that it can take, and takes by default.
    """
    made = argparse.ArgumentParser(description=document.splitlines()[0] if document else "")
    made.add_argument("--data", help="measure what is missing on the graphs in this folder")
    made.add_argument("--seeds", type=int, default=seeds)
    made.add_argument("--graphs", nargs="+", default=graphs, choices=graphs)
    return made


def measure_missing(
    path: Path,
    names: Sequence[str],
    wanted: Iterable[tuple[Any, ...]],
    data: str,
    measured: Callable[..., Record],
) -> None:
    """Measure what is not recorded yet, and load each graph when it is needed.

    Args:
        path: The file.
        names: What tells records apart, the graph first, as ``("graph", "seed")``.
        wanted: Values for these names, one tuple a record.
        data: The folder that holds the data folders.
        measured: Makes the rest of a record from the loaded graph and the other values.
    """
    load = cache(lambda graph: ng.load_dataset(graph, data))
    add_missing(path, names, wanted, lambda graph, *others: measured(load(graph), *others))


def add_missing(
    path: Path,
    names: Sequence[str],
    wanted: Iterable[tuple[Any, ...]],
    measured: Callable[..., Record],
) -> None:
    """Measure what is not recorded yet, for studies without real graphs.

    Args:
        path: The file.
        names: What tells records apart.
        wanted: Values for these names, one tuple a record.
        measured: Makes the rest of a record from these values.
    """

    def name(record: Record) -> tuple[Any, ...]:
        return tuple(record[name] for name in names)

    done = {name(record) for record in read(path)}
    for values in wanted:
        if values not in done:
            record = dict(zip(names, values, strict=True)) | measured(*values)
            add(path, record, order=name)
            print(*values, flush=True)


def add(path: Path, record: Record, order: Callable[[Record], Any]) -> None:
    """Add a record and the hash of the code that made it, and write the file."""
    records: Sequence[Record] = sorted([*read(path), {**record, "source": this_code()}], key=order)
    lines = ",\n".join(json.dumps(record) for record in records)
    part = path.with_suffix(".part")
    part.write_text(f"[\n{lines}\n]\n")
    part.replace(path)
