"""Tables from files or from memory, and their columns, with errors that name both."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nodegraft.base.errors import DataError, MissingColumnError, TablesError
from nodegraft.graph.edges.matrix import FloatArray, IntArray
from nodegraft.graph.keys import (
    CANONICAL,
    KeyArray,
    KeyType,
    NodeKeys,
    several,
)
from nodegraft.tables.files import ENDINGS, TableFiles

Source = Any
"""A file by its path or URL, a folder or glob of Parquet files, or a table in memory: Arrow,
pandas, Polars, DuckDB."""


_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$|^[+-]?(inf|nan)$"
_NAME_COLUMNS = (
    "Name the columns to use, for example key='id', features=['price', 'weight'] or "
    "text='description'; features=None (--no-features) for a graph known by its edges alone."
)
_ALWAYS_FIT = 19
"""Shorter integers are below 2**63."""


class SourceTable:
    """A table, and what to call it in an error.

    Args:
        content: An Arrow table.
        place: Its file, or what it is.
        rows: The number of each row in the file, from 0; None for all rows from the first.
        typed: Whether its columns have types: those of a CSV file are only guessed.
    """

    def __init__(
        self, content: Any, place: str, rows: IntArray | None = None, *, typed: bool = True
    ) -> None:
        self._content, self.place, self._rows, self.typed = content, place, rows, typed

    def __len__(self) -> int:
        return int(self._content.num_rows)

    def batches(self, *columns: str) -> "Iterator[SourceTable]":
        """The table in pieces that fit into memory: here it is there already, in one.

        Args:
            columns: Those that are needed; none named means all.
        """
        yield self

    def without(self, rows: IntArray) -> "SourceTable":
        """All but some rows.

        Args:
            rows: Row numbers.
        """
        return self.take(np.setdiff1d(np.arange(len(self)), rows)) if rows.size else self

    def take(self, rows: Any) -> "SourceTable":
        """Some rows of it.

        Args:
            rows: Row numbers.
        """
        places = np.asarray(rows, dtype=np.int64)
        content = self._content.take(pa.array(places))
        numbers = places if self._rows is None else self._rows[places]
        return SourceTable(content, self.place, numbers, typed=self.typed)

    def row_number(self, place: int) -> int:
        """Return the number of a row in its file, counted from 1 without a header.

        Args:
            place: The place of the row in this table, from 0.
        """
        return int(place if self._rows is None else self._rows[place]) + 1

    def examples(self, places: IntArray, values: Iterable[Any]) -> list[str]:
        """Return some values with the numbers of their rows, for a report.

        Args:
            places: The places of the rows in this table.
            values: What is shown of each.
        """
        shown = zip(places[:3].tolist(), values, strict=False)
        return [f"row {self.row_number(place)}: {value}" for place, value in shown]

    def where(self, *columns: str) -> str:
        """Return the names of columns and of their table, for a report.

        Args:
            columns: Names of columns.
        """
        named = " and ".join(map(repr, columns))
        return f"column{'s' if len(columns) > 1 else ''} {named} of {Path(self.place).name}"

    def with_column(self, name: str, column: Any) -> "SourceTable":
        """Return the table with one column replaced.

        Args:
            name: The name of the column.
            column: An Arrow column of the same length.
        """
        place = self._content.column_names.index(name)
        content = self._content.set_column(place, name, column)
        return SourceTable(content, self.place, self._rows, typed=self.typed)

    def with_keys(self, names: Iterable[str], key_type: KeyType) -> "SourceTable":
        """Return the table with columns of node keys in one type.

        Args:
            names: The columns of keys.
            key_type: The type of the keys.

        Raises:
            DataError: Where text is no integer; it names the first such row.
        """
        table = self
        for name in names:
            column = self.column(name)
            if is_text(column) and key_type == "integer":
                table = table.with_column(name, self._integers(name))
            elif pa.types.is_integer(column.type) and key_type == "text":
                table = table.with_column(name, column.cast(pa.large_string()))
        return table

    def _integers(self, name: str) -> Any:
        column = self.text_column(name)
        odd = np.flatnonzero(~are_integers(column))
        if odd.size:
            text = column[odd[0]].as_py()
            raise DataError(
                f"Row {self.row_number(odd[0])} of {self.place} has {text!r} in "
                f"column {name!r}, and the keys of the nodes are integers. An integer key has "
                "digits only, no leading zeros, and is below 2**63; to read all keys as text, "
                "create the graph with key_type='text' (--key-type text)."
            )
        return column.cast(pa.int64())

    def filter(self, kept: Any) -> "SourceTable":
        """The rows that are kept.

        Args:
            kept: An Arrow array of true and false, one for each row.
        """
        return self.take(np.flatnonzero(kept.to_numpy(zero_copy_only=False)))

    @property
    def column_names(self) -> list[str]:
        """The names of all columns."""
        names: list[str] = self._content.column_names
        return names

    def column(self, name: str) -> Any:
        """A column by name, or an error that lists the names there are.

        Args:
            name: The name of a column.
        """
        names = self.column_names
        if name not in names:
            what = f"{self.place} has no column {name!r}; its columns are {', '.join(names)}."
            raise MissingColumnError(f"{what} {_NAME_COLUMNS}", what)
        if names.count(name) > 1:
            raise DataError(f"{self.place} has {names.count(name)} columns called {name!r}.")
        column = self._content.column(name)
        kind = column.type
        return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column

    def texts(self, name: str) -> list[str | None]:
        """The values of a column as text, None where one is missing.

        Args:
            name: The name of a column of text, numbers or the like.
        """
        texts: list[str | None] = self.text_column(name).to_pylist()
        return texts

    def text_column(self, name: str) -> Any:
        """The same as an Arrow column, whose letters are known to be UTF-8.

        Args:
            name: The name of a column of text, numbers or the like.
        """
        column = self.column(name)
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        try:
            texts = column.cast(pa.large_string())
            texts.validate(full=True)
        except pa.ArrowInvalid:
            raise self._not_text(name, column) from None
        except pa.ArrowException:
            raise DataError(
                f"Column {name!r} of {self.place} must hold text and is of type {column.type}."
            ) from None
        return texts

    def _not_text(self, name: str, column: Any) -> DataError:
        values = column.cast(pa.binary()).to_pylist()
        first = next(row for row, value in enumerate(values) if not _is_utf8(value or b""))
        return DataError(
            f"Column {name!r} of {self.place} holds text that is not UTF-8, first in row "
            f"{self.row_number(first)}: convert the file to UTF-8."
        )

    def floats(self, name: str, is_numbers: bool = False) -> FloatArray:
        """The values of a column in float64, NaN where one is missing.

        Args:
            name: The name of a column of numbers, or of true and false.
            is_numbers: Whether the column is known to be numbers, whatever a CSV file has in it.
        """
        column = self.column(name)
        try:
            # Unsafe, or whole numbers above 2**53 would be refused for losing their last digit.
            numbers = self._numbers(column, is_numbers).cast(pa.float64(), safe=False)
        except pa.ArrowException:
            what = f"Column {name!r} of {self.place} must hold numbers and is of type {column.type}"
            hint = f"if it is text, give text={name!r} or categories=[{name!r}]"
            advice = "" if is_numbers else f"; {hint}"
            raise TablesError(f"{what}{advice}.", f"{what}.") from None
        return np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)

    def _numbers(self, column: Any, is_numbers: bool) -> Any:
        """Return a column of a CSV file without what is no number, if most of it is numbers."""
        odd = self._odd_numbers(column, is_numbers)
        if not odd.size:
            return column
        kept = np.ones(len(column), dtype=bool)
        kept[odd] = False
        return pc.if_else(pa.array(kept), column, pa.scalar(None, column.type))

    def _odd_numbers(self, column: Any, is_numbers: bool) -> IntArray:
        nothing = np.zeros(0, dtype=np.int64)
        if self.typed or not pa.types.is_string(column.type):
            return nothing
        fits = pc.match_substring_regex(column, _NUMBER).fill_null(True)
        odd = np.flatnonzero(~fits.to_numpy(zero_copy_only=False).astype(bool))
        # A column of which less than half is numbers is a column of text, unless it is known.
        return odd if is_numbers or 2 * odd.size < len(column) - column.null_count else nothing

    def odd_numbers(self, name: str) -> IntArray:
        """Return the places of what is no number in a column of numbers of a CSV file.

        Args:
            name: The name of the column, which is known to be numbers.
        """
        return self._odd_numbers(self.column(name), True)


def are_integers(texts: Any) -> NDArray[np.bool_]:
    """Tell which texts are integers as keys are spelt; missing ones count as such.

    >>> are_integers(pa.chunked_array([["7", "007", None, " 7", "9" * 19]])).tolist()
    [True, False, True, False, False]

    Args:
        texts: An Arrow column of text.
    """
    spelt = pc.match_substring_regex(texts, f"^{CANONICAL}$").fill_null(True)
    fits: NDArray[np.bool_] = np.array(spelt.to_numpy(zero_copy_only=False), dtype=bool)
    lengths = pc.utf8_length(texts).fill_null(0).to_numpy(zero_copy_only=False)
    for place in np.flatnonzero(fits & (lengths >= _ALWAYS_FIT)):
        fits[place] = -(1 << 63) <= int(texts[place].as_py()) < 1 << 63
    return fits


def _is_utf8(letters: bytes) -> bool:
    try:
        letters.decode()
    except UnicodeDecodeError:
        return False
    return True


def read_source(
    source: Source, what: str, texts: Sequence[str] = (), delimiter: str | None = None
) -> SourceTable:
    """A table from wherever it is.

    Args:
        source: A file, a folder or glob of Parquet files, a URL of either, or a table in memory.
        what: What the table holds, for errors about one in memory.
        texts: Names or globs of columns that a CSV file must not read as numbers.
        delimiter: What separates the columns of a CSV file; None to look at its header.
    """
    if isinstance(source, str | Path):
        files = TableFiles.of(source)
        return SourceTable(files.read(texts, delimiter), str(source), typed=files.typed)
    try:
        return SourceTable(pa.table(source), f"the table of {what}")
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(
            f"The table of {what} must be the path of a file ({', '.join(ENDINGS)}), or an Arrow, "
            f"pandas or Polars table; a {type(source).__name__} was given ({error})."
        ) from error


def require_columns(
    tables: Iterable[tuple[SourceTable | None, Iterable[str | None]]], advice: str = _NAME_COLUMNS
) -> None:
    """Refuse tables that lack columns, with all that are missing.

    Args:
        tables: Each table, or None, with the columns it must have.
        advice: What to do if one is missing.
    """
    errors: list[DataError] = []
    for table, names in tables:
        for name in dict.fromkeys(filter(None, names)):
            try:
                if table is not None:
                    table.column(name)
            except DataError as error:
                errors.append(error)
    if errors:
        what = "\n".join(getattr(error, "what_happened", str(error)) for error in errors)
        raise MissingColumnError(f"{what} {advice}", what)


def node_keys(table: SourceTable, name: str) -> KeyArray:
    """A column fit for keys: all text or all integers, nothing missing.

    Args:
        table: The table of nodes.
        name: The column of keys.
    """
    return _array(table, name, key_column(table, name))


def key_column(table: SourceTable, name: str) -> Any:
    """The same as an Arrow column.

    Args:
        table: The table of nodes.
        name: The column of keys.
    """
    column = table.column(name)
    if len(column) == 0:
        raise DataError("The table of nodes is empty.")
    if column.null_count or not (is_text(column) or pa.types.is_integer(column.type)):
        raise DataError(
            f"Column {name!r} of {table.place} must hold text or integers with no value missing; "
            f"it holds {column.type}, {column.null_count} missing."
        )
    return column


def keys_like(keys: NodeKeys, table: SourceTable, name: str) -> KeyArray:
    """A column that can name those keys, because it is of their type; None where one is missing.

    Args:
        keys: The nodes.
        table: Another table that names them.
        name: The column that does.
    """
    return _array(table, name, column_like(keys, table, name))


def column_like(keys: NodeKeys, table: SourceTable, name: str) -> Any:
    """The same as an Arrow column.

    Args:
        keys: The nodes.
        table: Another table that names them.
        name: The column that does.
    """
    column = table.column(name)
    alike = is_text(column) if keys.is_text else pa.types.is_integer(column.type)
    if not alike and column.null_count < len(column):
        raise DataError(
            f"Column {name!r} of {table.place} holds {column.type}, but the keys of the nodes are "
            f"{'text' if keys.is_text else 'integers'}: make both the same, or give "
            "key_type='text' (--key-type text) to read all keys as text."
        )
    return column


def is_text(column: Any) -> bool:
    """Whether a column holds text; of a CSV file, letters that are no UTF-8 come as bytes.

    Args:
        column: An Arrow column.
    """
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary)
    return any(is_kind(column.type) for is_kind in kinds)


def is_list(column: Any) -> bool:
    """Whether a column holds lists.

    Args:
        column: An Arrow column.
    """
    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(is_kind(column.type) for is_kind in kinds)


def column_names(given: str | Iterable[str] | None) -> tuple[str, ...]:
    """One name or several.

    >>> column_names("price"), column_names(["price", "weight"])
    (('price',), ('price', 'weight'))

    Args:
        given: The name of a column, or names of several; None for no column.
    """
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(several(given, "column names"))


def _array(table: SourceTable, name: str, column: Any) -> KeyArray:
    if is_text(column):
        texts = np.empty(len(column), dtype=object)
        texts[:] = table.texts(name)
        return texts
    # NumPy has no missing integer: to_numpy would make floats of the whole column.
    if column.null_count:
        return np.array(column.to_pylist(), dtype=object)
    keys: KeyArray = column.to_numpy(zero_copy_only=False)
    return keys
