"""Write tables into databases."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import pyarrow as pa

from nodegraft.base.errors import DataError
from nodegraft.base.tabular import with_text_cells
from nodegraft.tables.sql.place import DatabasePlace


def write_table(table: Any, place: str, *, replace: bool = False) -> None:
    """Write a table into a database, all rows or none.

    Args:
        table: Predictions or another result of a store; or an Arrow, pandas or Polars table.
            Cells that are lists become JSON text.
        place: ``URL#TABLE`` or ``URL#SCHEMA.TABLE``: a SQLAlchemy URL, or ``duckdb:///FILE``.
        replace: Whether a table of this name is replaced instead of refused.
    """
    write_parts([pa.table(table)], place, replace=replace)


def write_parts(parts: Iterable[Any], place: str, *, replace: bool = False) -> None:
    """Write Arrow tables of one schema into a table of a database, in one transaction.

    Args:
        parts: The tables; at least one.
        place: As in :func:`write_table`.
        replace: As in :func:`write_table`.
    """
    target = DatabasePlace.of(place, "TABLE")
    tables = map(with_text_cells, parts)
    first = next(tables)
    rows = chain((first,), tables)
    if target.duckdb_file is not None:
        _write_duckdb(target, rows, first.schema, replace)
    else:
        _write_sqlalchemy(target, rows, first.schema, replace)


def _taken(place: DatabasePlace) -> DataError:
    return DataError(
        f"The {place.scheme} database already has a table {place.selection!r}: choose another "
        "name, or replace it with replace=True (--replace)."
    )


def _write_duckdb(place: DatabasePlace, rows: Iterator[Any], schema: Any, replace: bool) -> None:
    name = ".".join('"' + part.replace('"', '""') + '"' for part in place.selection.split("."))
    with place.duckdb(read_only=False) as connection:
        connection.begin()
        connection.register("_nodegraft_rows", schema.empty_table())
        table_schema, _, table = place.selection.rpartition(".")
        found = connection.execute(
            "SELECT count(*) FROM duckdb_tables() WHERE table_name = ? AND schema_name = ?",
            [table, table_schema or "main"],
        ).fetchone()
        if found[0] and not replace:
            raise _taken(place)
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
        if sa.inspect(connection).has_table(name, schema=table.schema):
            if not replace:
                raise _taken(place)
            table.drop(connection)
        table.create(connection)
        for part in rows:
            if part.num_rows:
                connection.execute(table.insert(), part.to_pylist())
        connection.commit()


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
