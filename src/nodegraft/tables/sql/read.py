"""Read the result of a database query as an Arrow table."""

from typing import Any

import pyarrow as pa

from nodegraft.base.errors import DataError
from nodegraft.tables.sql.place import DatabasePlace


def read_query(source: str) -> Any:
    """Run a query and return its rows as an Arrow table.

    Data changes by the query are not committed.

    Args:
        source: ``URL#QUERY``; URL is a SQLAlchemy URL or ``duckdb:///FILE``.
    """
    place = DatabasePlace.of(source)
    if place.duckdb_file is not None:
        with place.duckdb(read_only=True) as connection:
            result = connection.sql(place.selection)
            if result is None:
                raise DataError(f"{place.selection!r} returns no rows: give a SELECT.")
            return result.to_arrow_table()
    with place.sqlalchemy(create=False) as connection:
        # Disable query parameters, so that colons and percent signs in the query need no escape.
        options = {"no_parameters": True}
        result = connection.exec_driver_sql(place.selection, execution_options=options)
        if not result.returns_rows:
            raise DataError(f"{place.selection!r} returns no rows: give a SELECT.")
        names, rows = list(result.keys()), result.all()
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return pa.table([_column(*named) for named in zip(names, columns, strict=True)], names)


def _column(name: str, values: Any) -> Any:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"Column {name!r} of the query has values that do not fit one type ({error}): convert "
            f"them in the query, as in CAST({name} AS TEXT)."
        ) from error
