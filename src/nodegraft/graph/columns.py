"""Columns of Parquet and CSV files, with errors that name the file and what it holds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from nodegraft.base.errors import DataError
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.matrix import FloatArray


def read_file(path: Path, texts: Sequence[str] = ()) -> Any:
    """A table by the ending of its name; ``texts`` are columns a CSV must not read as numbers."""
    if path.suffix not in (".parquet", ".csv"):
        raise DataError(f"{path} must end in .parquet or .csv.")
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    try:
        csv = path.suffix == ".csv"
        table = _read_csv(path, texts) if csv else pa.parquet.read_table(path)
        return table.combine_chunks()
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} cannot be read: {error}") from error


def _read_csv(path: Path, texts: Sequence[str]) -> Any:
    # CSV has no types: 007 is a number unless the column is known to be text.
    options = pa.csv.ConvertOptions(column_types={name: pa.string() for name in texts})
    table = pa.csv.read_csv(path, convert_options=options)
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            # An empty cell is a missing value, whatever the column holds.
            column = table.column(place)
            missing = pa.scalar(None, pa.string())
            given = pc.if_else(pc.equal(column, ""), missing, column)
            table = table.set_column(place, field.name, given)
    return table


def column_of(table: Any, name: str, path: str | Path) -> Any:
    """A column by name, or an error that lists the names there are."""
    if name not in table.column_names:
        raise DataError(
            f"{path} has no column {name!r}; its columns are {', '.join(table.column_names)}. "
            "Name the columns to use, for example key='id', features=['price', 'weight'] or "
            "text='description'."
        )
    return table.column(name)


def node_keys(table: Any, name: str, path: str | Path) -> NDArray[Any]:
    """A column fit for keys: all text or all integers, nothing missing."""
    column = _plain(column_of(table, name, path))
    if len(column) == 0:
        raise DataError("The table of nodes is empty.")
    if column.null_count or not (_is_text(column) or pa.types.is_integer(column.type)):
        raise DataError(
            f"Column {name!r} of {path} must hold text or integers with no value missing; it "
            f"holds {column.type}, {column.null_count} missing."
        )
    keys: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return keys


def keys_like(keys: NodeKeys, table: Any, name: str, path: str | Path) -> Any:
    """A column that can name those keys, because it is of their type."""
    column = _plain(column_of(table, name, path))
    alike = _is_text(column) if keys.is_text else pa.types.is_integer(column.type)
    if not alike and column.null_count < len(column):
        raise DataError(
            f"Column {name!r} of {path} holds {column.type}, but the keys of the nodes are "
            f"{'text' if keys.is_text else 'integers'}: make both the same."
        )
    return column


def _plain(column: Any) -> Any:
    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


def _is_text(column: Any) -> bool:
    kind = column.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def numbers_of(table: Any, features: str | Sequence[str], path: str | Path) -> FloatArray:
    """Feature rows from one column of lists or from several of numbers."""
    names = [features] if isinstance(features, str) else list(features)
    if not names:
        raise DataError("Name at least one feature column, or a text column with text='…'.")
    column = column_of(table, names[0], path)
    if isinstance(features, str) and _is_list(column.type):
        return _lists(column.combine_chunks(), features, path)
    return np.stack([_floats(column_of(table, name, path), name, path) for name in names], axis=1)


def _floats(column: Any, name: str, path: str | Path) -> FloatArray:
    try:
        # Unsafe, or whole numbers above 2**24 would be refused for losing their last digit.
        numbers = column.cast(pa.float32(), safe=False)
    except pa.ArrowException:
        raise DataError(
            f"Column {name!r} of {path} must hold numbers and is of type {column.type}; if it is "
            f"text, give text={name!r}."
        ) from None
    return np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float32)


def _lists(column: Any, name: str, path: str | Path) -> FloatArray:
    if column.null_count or len(_lengths(column)) > 1:
        raise DataError(f"Every list in column {name!r} of {path} must have the same length.")
    flat = column.flatten()
    if flat.type == pa.float16():
        numbers: FloatArray = flat.to_numpy(zero_copy_only=False)
    else:
        numbers = _floats(flat, name, path)
    return numbers.reshape(len(column), -1)


def _is_list(kind: Any) -> bool:
    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(is_kind(kind) for is_kind in kinds)


def _lengths(column: Any) -> list[int]:
    return pc.unique(pc.list_value_length(column)).to_pylist()  # type: ignore[no-any-return]


def values_of(column: Any) -> NDArray[Any]:
    """The values of a column, None where one is missing."""
    # NumPy has no missing integer: to_numpy would make floats of the whole column.
    if column.null_count:
        return np.array(column.to_pylist(), dtype=object)
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values
