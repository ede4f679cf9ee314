"""SQL queries over benchmark records, run by DuckDB, which is an optional extra."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from nodegraft.base.errors import ParameterError
from nodegraft.base.extras import extra
from nodegraft.evaluation.protocol import STRICT, UPPER_REFERENCE
from nodegraft.lab.benchmark.archive import Archive, read_failures
from nodegraft.lab.benchmark.record import CLASSES
from nodegraft.lab.datasets.templates.dataset import REGISTRY as DATASETS

with extra("lab", package="duckdb", purpose="Asking records by SQL"):
    import duckdb

# Upper references also use the strict protocol, so they are recognised by the name of the method.
OVERVIEW = f"""
SELECT dataset, method || if(protocol = '{STRICT}', '', ' (upper reference)') AS method,
       count(*) AS seeds,
       round(100 * avg(first_accuracy), 1) AS "A0 %",
       round(100 * avg(last_accuracy), 1) AS "last %",
       round(100 * avg(average_accuracy), 1) AS "avg %",
       round(median(seconds), 1) AS s
FROM runs WHERE usual AND protocol IN ('{STRICT}', '{STRICT}, {UPPER_REFERENCE}')
GROUP BY ALL ORDER BY dataset, "last %" DESC
"""  # noqa: S608  (constants of this package)
FAILURES = pa.schema([(name, pa.string()) for name in ("job", "title", "protocol", "error")])


def query_records(place: str | Path, sql: str = OVERVIEW) -> Any:
    """Run an SQL query over run records and return its result as an Arrow table.

    Args:
        sql: Query over the tables ``runs``, ``sessions``, ``classes`` and ``failures``; the default
            query returns means over seeds of strict runs with default settings.
    """
    archive = Archive(place)
    documents = archive.documents()
    if not documents:
        raise ParameterError(f"No record in {place}: `nodegraft lab bench` or `run` makes them.")
    with duckdb.connect() as database:
        database.register("runs", pa.Table.from_pylist([_run(document) for document in documents]))
        database.register("sessions", pa.Table.from_pylist(_sessions(documents)))
        # Prevent DuckDB from using a Python variable if a query names a table that does not exist.
        database.execute("SET python_enable_replacements = false")
        if "classes" in sql.lower():  # Read the largest table only if needed.
            schema = CLASSES.insert(0, pa.field("run", pa.string()))
            tables = {record.run: record.classes.to_pylist() for record in archive.records()}
            rows = [{"run": run, **row} for run, table in tables.items() for row in table]
            database.register("classes", pa.Table.from_pylist(rows, schema=schema))
        database.register("failures", pa.Table.from_pylist(read_failures(place), schema=FAILURES))
        try:
            answer = database.sql(sql)
            if answer is None:
                raise ParameterError(f"This asks nothing: {sql!r}.")
            return answer.to_arrow_table()
        except duckdb.Error as error:
            raise ParameterError(f"DuckDB says: {error}") from error


def _run(document: Mapping[str, Any]) -> dict[str, Any]:
    changed = _changed(document)
    columns = ("run", "dataset", "method", "seed", "protocol", "arrival")
    return {
        **{name: document[name] for name in columns},
        **{name: document["setting"][name] for name in ("ways", "shots")},
        "changed": changed,
        "usual": not changed and document["setting"] == document["default_setting"],
        "parameters": json.dumps(document["parameters"]),
        "dataset_options": json.dumps(document["dataset_options"]),
        "source": " ".join(document["source"].values()),
        **document["summary"],
    }


def _sessions(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"run": document["run"], **session}
        for document in documents
        for session in document["sessions"]
    ]


def _changed(document: Mapping[str, Any]) -> str:
    """Return the options of method and dataset that differ from their defaults, as text."""
    usual = _usual(document["dataset"])
    options = {
        name: value
        for name, value in document["dataset_options"].items()
        if usual.get(name) != value
    }
    changed = {**document["changed_parameters"], **options}
    return ", ".join(f"{name}={value}" for name, value in changed.items())


@cache
def _usual(dataset: str) -> dict[str, Any]:
    return asdict(DATASETS.get(dataset)())
