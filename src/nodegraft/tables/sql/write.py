"""Write Arrow tables to databases."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import pyarrow as pa

from nodegraft.base.errors import DataError
from nodegraft.base.tabular import with_text_cells
from nodegraft.tables.sql.place import TABLE, DatabasePlace, is_database

STORE_TABLES = ("versions", "promotions", "audit", "tokens", "settings", "alembic_version")
"""Names of the tables that a store's own database has."""


def write_table(table: Any, place: str, *, replace: bool = False) -> None:
    """Write a table to a database in a single transaction: either all rows are written or none.

    Args:
        table: Predictions or another result of a store, or an Arrow, pandas or Polars table. Cells
            that are lists become JSON text. Dates, times of day, durations and decimals become
            text, except in DuckDB.
        place: Table to write: ``URL#TABLE`` or ``URL#SCHEMA.TABLE``; URL is a SQLAlchemy URL or
            ``duckdb:///FILE``.
        replace: Whether to replace an existing table. If False, an existing table raises an error.
    """
    write_parts([pa.table(table)], place, replace=replace)


def write_parts(parts: Iterable[Any], place: str, *, replace: bool = False) -> None:
    """Like :func:`write_table`, but write batches of rows.

    Args:
        parts: Arrow tables with the same schema; at least one.
    """
    if not is_database(place):
        raise DataError(
            "A database table (--to) is given as URL#TABLE, such as sqlite:///shop.db#predictions; "
            "for files use --csv or --parquet."
        )
    target = DatabasePlace.of(place, TABLE)
    tables = map(with_text_cells, parts)
    first = next(tables)
    rows = chain((first,), tables)
    if target.duckdb_file is not None:
        _write_duckdb(target, rows, first.schema, replace)
    else:
        _write_sqlalchemy(target, rows, first.schema, replace)


def _check_replaceable(
    place: DatabasePlace, name: str, existing: Iterable[str], replace: bool
) -> None:
    """Refuse to write a table that exists, unless it may be replaced and is no table of a store."""
    names = {other.lower() for other in existing}
    if name.lower() not in names:
        return
    if not replace:
        raise DataError(
            f"The {place.scheme} database already has a table {place.selection!r}: choose another "
            "name, or replace it with replace=True (--replace)."
        )
    if name.lower() in STORE_TABLES and {"versions", "promotions"} <= names:
        raise DataError(
            f"The table {place.selection!r} belongs to a nodegraft store: choose another name."
        )


def _write_duckdb(place: DatabasePlace, rows: Iterator[Any], schema: Any, replace: bool) -> None:
    name = ".".join('"' + part.replace('"', '""') + '"' for part in place.selection.split("."))
    with place.duckdb(read_only=False) as connection:
        connection.begin()
        connection.register("_nodegraft_rows", schema.empty_table())
        table_schema, _, table = place.selection.rpartition(".")
        # A name such as a.b is a table of the schema a or of the database a.
        names = connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE ? IN (schema_name, database_name)",
            [table_schema.rpartition(".")[2] or "main"],
        ).fetchall()
        # DuckDB opens SQLite files, too, so the tables may be those of a store.
        _check_replaceable(place, table, (found for (found,) in names), replace)
        create = "CREATE OR REPLACE" if replace else "CREATE"
        connection.execute(f"{create} TABLE {name} AS FROM _nodegraft_rows")
        for part in rows:
            connection.register("_nodegraft_rows", part)
            connection.execute(f"INSERT INTO {name} FROM _nodegraft_rows")
        connection.commit()


def _write_sqlalchemy(
    place: DatabasePlace, rows: Iterator[Any], schema: Any, replace: bool
) -> None:
    with place.sqlalchemy(create=True) as connection:
        import sqlalchemy as sa

        table_schema, _, name = place.selection.rpartition(".")
        columns = (sa.Column(field.name, _sql_type(field.type)) for field in schema)
        table = sa.Table(name, sa.MetaData(), *columns, schema=table_schema or None)
        inspector = sa.inspect(connection)
        if inspector.has_table(name, schema=table.schema):
            names = [name, *inspector.get_table_names(schema=table.schema)]
            _check_replaceable(place, name, names, replace)
            table.drop(connection)
        table.create(connection)
        for part in rows:
            if part.num_rows:
                try:
                    connection.execute(table.insert(), _with_plain_cells(part).to_pylist())
                except OverflowError as error:
                    raise place.failed(error) from error
        connection.commit()


def _with_plain_cells(table: Any) -> Any:
    """Convert decimals, times and durations to text, which every database driver supports."""
    for place, kind in enumerate(table.schema.types):
        is_time = pa.types.is_temporal(kind) and not pa.types.is_timestamp(kind)
        if is_time or pa.types.is_decimal(kind):
            cells = table[place].to_pylist()
            texts = pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
            table = table.set_column(place, table.column_names[place], texts)
    return table


def _sql_type(kind: Any) -> Any:
    import sqlalchemy as sa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    types = {
        pa.types.is_boolean: sa.Boolean(),
        pa.types.is_integer: sa.BigInteger(),
        pa.types.is_floating: sa.Double(),
        pa.types.is_timestamp: sa.DateTime(timezone=getattr(kind, "tz", None) is not None),
    }
    return next((type_ for is_kind, type_ in types.items() if is_kind(kind)), sa.Text())
