"""Records as tables for SQL: the one door to DuckDB, which is an extra."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow.parquet import read_table

from nodegraft.base.errors import ParameterError
from nodegraft.base.extras import extra
from nodegraft.base.registry import Registry
from nodegraft.benchmark.failures import read_failures
from nodegraft.benchmark.folder import AppendOnlyFolder
from nodegraft.benchmark.protocol import CEILING, STRICT
from nodegraft.benchmark.results import read_records
from nodegraft.datasets.base import REGISTRY as DATASETS
from nodegraft.methods.base import REGISTRY as METHODS

with extra("bench", package="duckdb", purpose="Asking records by SQL"):
    import duckdb

# Ceilings are strict, too, and say so.
OVERVIEW = f"""
SELECT dataset, method || if(protocol = '{STRICT}', '', ' (ceiling)') AS method, count(*) AS seeds,
       round(100 * avg(first_accuracy), 1) AS "A0 %",
       round(100 * avg(last_accuracy), 1) AS "last %",
       round(100 * avg(average_accuracy), 1) AS "avg %",
       round(median(seconds), 1) AS s
FROM runs WHERE usual AND protocol IN ('{STRICT}', '{STRICT}, {CEILING}')
GROUP BY ALL ORDER BY dataset, "last %" DESC
"""  # noqa: S608  (constants of this package)
FAILURES = pa.schema([(name, pa.string()) for name in ("job", "title", "protocol", "error")])


def ask(place: str | Path, sql: str = OVERVIEW) -> Any:
    """An Arrow table; ``runs``, ``sessions``, ``classes`` and ``failures`` can be asked."""
    records = read_records(place)
    if not records:
        raise ParameterError(f"No record in {place}: `nodegraft bench` or `run` makes them.")
    with duckdb.connect() as database:
        database.register("runs", pa.Table.from_pylist([_run(one) for one in records]))
        database.register("sessions", pa.Table.from_pylist(_sessions(records)))
        if "classes" in sql:  # one file a run: worth reading only when asked for
            database.register("classes", _classes(place, records))
        database.register("failures", pa.Table.from_pylist(read_failures(place), schema=FAILURES))
        try:
            return database.sql(sql).to_arrow_table()
        except duckdb.Error as error:
            raise ParameterError(f"DuckDB says: {error}") from error


def _run(record: Mapping[str, Any]) -> dict[str, Any]:
    changed = _changed(record)
    said = ("run", "dataset", "method", "seed", "protocol", "arrival")
    return {
        **{name: record[name] for name in said},
        **{name: record["setting"][name] for name in ("ways", "shots")},
        "changed": changed,
        "usual": not changed and record["setting"] == record["default_setting"],
        "parameters": json.dumps(record["parameters"]),
        "dataset_options": json.dumps(record["dataset_options"]),
        **record["summary"],
    }


def _sessions(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"run": one["run"], **session} for one in records for session in one["sessions"]]


def _classes(place: str | Path, records: list[dict[str, Any]]) -> Any:
    folder = AppendOnlyFolder(place)
    files = (folder.read(f"{record['run']}.parquet") for record in records)
    return pa.concat_tables(read_table(pa.BufferReader(file)) for file in files)


def _changed(record: Mapping[str, Any]) -> str:
    """What was set other than by default, of the method and of the dataset."""
    usual = {**_usual(METHODS, record["method"]), **_usual(DATASETS, record["dataset"])}
    given = {**record["parameters"], **record["dataset_options"]}
    return ", ".join(
        f"{name}={value}"
        for name, value in given.items()
        if name != "seed" and usual.get(name) != value
    )


@cache
def _usual(registry: Registry[Any], name: str) -> dict[str, Any]:
    return asdict(registry.get(name)())
