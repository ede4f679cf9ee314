"""Read source tables; error messages name the table, the column and the row."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nodegraft.base.errors import DataError, MissingColumnError, TablesError
from nodegraft.graph.edges.matrix import FloatArray, IntArray
from nodegraft.graph.keys import CANONICAL, KeyType, several
from nodegraft.tables.files import ENDINGS, TableFiles
from nodegraft.tables.sql.place import is_database
from nodegraft.tables.sql.read import read_query

Source = Any
"""Table source: path or URL of a file, a folder or glob of Parquet files, a database query
(``URL#QUERY``), or a table in memory (Arrow, pandas, Polars, DuckDB)."""

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$|^[+-]?(inf|nan)$"
_NAME_COLUMNS = {
    "nodes": "Name the columns to use, for example key='id' (--key id), features='price' "
    "(--features price) or text='description' (--text description); features=None (--no-features) "
    "for a graph known by its edges alone.",
    "edges": "Name the columns of edges to use, for example source='from' (--source from), "
    "target='to' (--target to), edge_type='kind' (--type kind) or edge_weight='count' "
    "(--weight count).",
    "labels": "Name the columns of labels to use, for example label='class' (--label class) or "
    "label_key='id' (--label-key id).",
}
"""Table -> advice about its missing columns."""
_ALWAYS_FIT = 19
"""Number of digits below which every integer fits into 63 bits, so is less than 2**63."""


class SourceTable:
    """Arrow table that knows its file name and its row numbers, for error messages.

    Args:
        content: The Arrow table.
        place: File name of the table, or a description of a table in memory.
        rows: For each row of the table its row number in the file, counted from 0; None if the
            table has all rows of the file.
        typed: Whether the source stores column types; False for CSV, whose types are guessed.
    """

    def __init__(
        self, content: Any, place: str, rows: IntArray | None = None, *, typed: bool = True
    ) -> None:
        self._content, self.place, self._rows, self.typed = content, place, rows, typed

    def __len__(self) -> int:
        return int(self._content.num_rows)

    def batches(self, *columns: str) -> "Iterator[SourceTable]":
        """Yield batches of rows that fit into memory; a table in memory is yielded as one batch.

        Args:
            columns: Names of the columns to read; if no name is given, all columns are read.
        """
        yield self

    def without(self, rows: IntArray) -> "SourceTable":
        """Return this table without the given rows; rows are counted from 0."""
        return self.take(np.setdiff1d(np.arange(len(self)), rows)) if rows.size else self

    def take(self, rows: Any) -> "SourceTable":
        """Return a table of the given rows only; rows are counted from 0."""
        places = np.asarray(rows, dtype=np.int64)
        content = self._content.take(pa.array(places))
        numbers = places if self._rows is None else self._rows[places]
        return SourceTable(content, self.place, numbers, typed=self.typed)

    @classmethod
    def joined(cls, tables: "Sequence[SourceTable]", place: str) -> "SourceTable":
        """Return the rows of several tables; a column that a table lacks is missing in its rows."""
        content = pa.concat_tables([table._content for table in tables], promote_options="default")
        rows = [np.arange(len(table)) if table._rows is None else table._rows for table in tables]
        return cls(content, place, np.concatenate(rows))

    def with_content(self, content: Any) -> "SourceTable":
        """Return a table with the same rows and other columns."""
        return SourceTable(content, self.place, self._rows, typed=self.typed)

    def with_missing(self, names: Iterable[str]) -> "SourceTable":
        """Return this table with more columns, in which all values are missing."""
        content = self._content
        for name in names:
            content = content.append_column(name, pa.nulls(len(self)))
        return self.with_content(content)

    def row_number(self, place: int) -> int:
        """Return the row number in the file, counted from 1 without the header row.

        Args:
            place: Position of the row in this table, from 0.
        """
        return int(place if self._rows is None else self._rows[place]) + 1

    def examples(self, places: IntArray, values: Iterable[Any]) -> list[str]:
        """Return up to three values with their row numbers, as examples for the data report."""
        pairs = zip(places[:3].tolist(), values, strict=False)
        return [f"row {self.row_number(place)}: {value}" for place, value in pairs]

    def where(self, *columns: str) -> str:
        """Return the column names and the file name as text for the data report."""
        named = " and ".join(map(repr, columns))
        return f"column{'s' if len(columns) > 1 else ''} {named} of {Path(self.place).name}"

    def with_column(self, name: str, column: Any) -> "SourceTable":
        """Return this table with other values in a column."""
        place = self._content.column_names.index(name)
        return self.with_content(self._content.set_column(place, name, column))

    def with_keys(self, names: Iterable[str], key_type: KeyType) -> "SourceTable":
        """Return this table with its key columns converted to the key type.

        Raises:
            DataError: If keys must be integers and a cell is not; the message names the first such
                row.
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

    @property
    def column_names(self) -> list[str]:
        """Names of all columns of the table."""
        names: list[str] = self._content.column_names
        return names

    def column(self, name: str) -> Any:
        """Return a column by name.

        For an unknown name, the error message lists all column names.
        """
        names = self.column_names
        if name not in names:
            what = f"{self.place} has no column {name!r}; its columns are {', '.join(names)}."
            raise MissingColumnError(f"{what} {_NAME_COLUMNS['nodes']}", what)
        if names.count(name) > 1:
            raise DataError(f"{self.place} has {names.count(name)} columns called {name!r}.")
        column = self._content.column(name)
        kind = column.type
        return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column

    def texts(self, name: str) -> list[str | None]:
        """Return the values of a column as text; None for a missing value."""
        texts: list[str | None] = self.text_column(name).to_pylist()
        return texts

    def text_column(self, name: str) -> Any:
        """Return a column converted to an Arrow column of valid UTF-8 text."""
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
        first = next(
            row
            for row, value in enumerate(values)
            if value and value.decode(errors="replace").encode() != value
        )
        return DataError(
            f"Column {name!r} of {self.place} holds text that is not UTF-8, first in row "
            f"{self.row_number(first)}: convert the file to UTF-8."
        )

    def floats(self, name: str, is_numbers: bool = False) -> FloatArray:
        """Return the values of a column as float64; NaN for a missing value.

        Args:
            is_numbers: True to read a CSV column as numbers even if most of its cells are not
                numbers.
        """
        column = self.column(name)
        try:
            # Use an unsafe cast, because a safe cast refuses integers above 2**53, which float64
            # rounds.
            numbers = self._numbers(column, is_numbers).cast(pa.float64(), safe=False)
        except pa.ArrowException:
            what = f"Column {name!r} of {self.place} must hold numbers and is of type {column.type}"
            hint = f"if it is text, give text={name!r} or categories=[{name!r}]"
            advice = "" if is_numbers else f"; {hint}"
            raise TablesError(f"{what}{advice}.", f"{what}.") from None
        return np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)

    def _numbers(self, column: Any, is_numbers: bool) -> Any:
        """Return a column; if it is a CSV column of numbers, all other cells are set to missing."""
        odd = self._odd_numbers(column, is_numbers)
        if not odd.size:
            return column
        is_number = np.ones(len(column), dtype=bool)
        is_number[odd] = False
        return pc.if_else(pa.array(is_number), column, pa.scalar(None, column.type))

    def _odd_numbers(self, column: Any, is_numbers: bool) -> IntArray:
        nothing = np.zeros(0, dtype=np.int64)
        if self.typed or not pa.types.is_string(column.type):
            return nothing
        fits = pc.match_substring_regex(column, _NUMBER).fill_null(True)
        odd = np.flatnonzero(~fits.to_numpy(zero_copy_only=False).astype(bool))
        # If less than half of the cells are numbers, treat the column as text, unless the caller
        # knows that it has numbers.
        return odd if is_numbers or 2 * odd.size < len(column) - column.null_count else nothing

    def odd_numbers(self, name: str) -> IntArray:
        """Return the row positions of those cells of a CSV column that are not numbers."""
        return self._odd_numbers(self.column(name), True)


def are_integers(texts: Any) -> NDArray[np.bool_]:
    """Return whether each text is a 64-bit integer without leading zeros or blanks.

    Missing texts count as integers.

    >>> are_integers(pa.chunked_array([["7", "007", None, " 7", "9" * 19]])).tolist()
    [True, False, True, False, False]
    """
    spelt = pc.match_substring_regex(texts, f"^{CANONICAL}$").fill_null(True)
    fits: NDArray[np.bool_] = np.array(spelt.to_numpy(zero_copy_only=False), dtype=bool)
    lengths = pc.utf8_length(texts).fill_null(0).to_numpy(zero_copy_only=False)
    for place in np.flatnonzero(fits & (lengths >= _ALWAYS_FIT)):
        fits[place] = -(1 << 63) <= int(texts[place].as_py()) < 1 << 63
    return fits


def read_source(
    source: Source, what: str, texts: Sequence[str] = (), delimiter: str | None = None
) -> SourceTable:
    """Read a table from a file, a database or memory.

    Args:
        source: A file, a folder or glob of Parquet files, a URL of either, a database query
            (``URL#QUERY``), or a table in memory.
        what: Description of the table's content, such as "nodes", for errors about a table in
            memory.
        texts: Names or globs of columns that are read as text from a CSV file.
        delimiter: Column separator of a CSV file; None to guess it from the header.
    """
    if is_database(source):
        return SourceTable(read_query(source), f"the query of {what}")
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
    tables: Mapping[str, tuple[SourceTable | None, Iterable[str | None]]], advice: str = ""
) -> None:
    """Raise an error that names all missing columns of all tables.

    Args:
        tables: "nodes", "edges" or "labels" -> the table (or None) and the columns that it must
            have.
        advice: What users can do; by default how to name the columns of these tables.
    """
    errors, advices = list[DataError](), dict[str, None]()
    for what, (table, names) in tables.items():
        for name in dict.fromkeys(filter(None, names)):
            try:
                if table is not None:
                    table.column(name)
            except DataError as error:
                errors.append(error)
                advices[advice or _NAME_COLUMNS[what]] = None
    if errors:
        message = "\n".join(error.what_happened or str(error) for error in errors)
        raise MissingColumnError(f"{message} {' '.join(advices)}", message)


def is_text(column: Any) -> bool:
    """Return whether a column has text.

    A CSV column that is not valid UTF-8 has the Arrow type binary, and counts as text.
    """
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary)
    return any(is_kind(column.type) for is_kind in kinds)


def is_list(column: Any) -> bool:
    """Return whether the cells of a column are lists."""
    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(is_kind(column.type) for is_kind in kinds)


def column_names(names: str | Iterable[str] | None) -> tuple[str, ...]:
    """Convert one column name or several to a tuple.

    >>> column_names("price"), column_names(["price", "weight"])
    (('price',), ('price', 'weight'))
    """
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(several(names, "column names"))
