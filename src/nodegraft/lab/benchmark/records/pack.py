"""Many records in one Parquet file: a listing of them fits on a screen."""

import json
from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.parquet

from nodegraft.base.hashing import content_hash
from nodegraft.lab.benchmark.records.record import CLASSES, RunRecord, with_known_schema

SUFFIX = ".parquet"
COLUMNS = pa.schema(
    [
        ("run", pa.string()),
        ("document", pa.string()),
        ("classes", pa.list_(pa.struct(list(CLASSES)))),
    ]
)


def pack_name(dataset: str, records: Iterable[RunRecord]) -> str:
    """Return the file name of a pack of records."""
    return f"{dataset}-{content_hash(sorted(one.run for one in records))[:8]}{SUFFIX}"


def pack(records: Sequence[RunRecord]) -> bytes:
    """Return a Parquet file with a row for each record."""
    rows = [
        {
            "run": one.run,
            "document": json.dumps(one.document),
            "classes": one.classes.to_pylist(),
        }
        for one in sorted(records, key=lambda one: one.run)
    ]
    sink = pa.BufferOutputStream()
    table = pa.Table.from_pylist(rows, schema=COLUMNS)
    pa.parquet.write_table(table, sink, compression="zstd", compression_level=15)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def unpack(content: bytes, with_classes: bool = True) -> list[RunRecord]:
    """Return the records of a pack.

    Args:
        content: All bytes of the file.
        with_classes: Whether their tables are read, by far the largest part; else those are empty.
    """
    columns = None if with_classes else ["document"]
    rows = pa.parquet.read_table(pa.BufferReader(content), columns=columns).to_pylist()
    return [
        RunRecord(
            with_known_schema(json.loads(row["document"])),
            pa.Table.from_pylist(row.get("classes", []), schema=CLASSES),
        )
        for row in rows
    ]
