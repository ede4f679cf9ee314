"""The records of a study: one JSON file, written after every measurement, that names its code."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from nodegraft.benchmark.records.source import this_code

FOLDER = Path(__file__).parent / "records"
PAGES = Path(__file__).parents[1] / "docs" / "explanation"

Record: TypeAlias = dict[str, Any]


def read(path: Path) -> list[Record]:
    """All records there are."""
    return json.loads(path.read_text()) if path.exists() else []


def measure_missing(
    path: Path,
    names: Sequence[str],
    wanted: Iterable[tuple[Any, ...]],
    measured: Callable[..., Record],
) -> None:
    """What is not on record yet, one after the other.

    Args:
        path: The file.
        names: What tells records apart, as ``("graph", "seed")``.
        wanted: Values for these names, one tuple a record.
        measured: Makes the rest of a record from them.
    """

    def name(record: Record) -> tuple[Any, ...]:
        return tuple(record[one] for one in names)

    done = {name(record) for record in read(path)}
    for values in wanted:
        if values not in done:
            record = dict(zip(names, values, strict=True)) | measured(*values)
            add(path, record, order=name)
            print(*values, flush=True)


def add(path: Path, record: Record, order: Callable[[Record], Any]) -> None:
    """One more, with the code that made it; a cut costs one measurement at most."""
    records: Sequence[Record] = sorted([*read(path), {**record, "source": this_code()}], key=order)
    lines = ",\n".join(json.dumps(one) for one in records)
    part = path.with_suffix(".part")
    part.write_text(f"[\n{lines}\n]\n")
    part.replace(path)
