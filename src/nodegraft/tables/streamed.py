"""Read Parquet files in batches, because a table may be larger than memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.keys import KeyType
from nodegraft.tables.columns import Source, SourceTable, read_source
from nodegraft.tables.files import TableFiles, require_same_columns
from nodegraft.tables.sql.place import is_database

_BUFFER = 1 << 20
"""Size of the read buffer of each column, in bytes; without it, Arrow reads a whole row group."""

_COPIES, _NUMBERS = 16, 512
"""Memory estimate for a table row: _COPIES times its bytes in the file, plus _NUMBERS bytes."""

_MOST_ROWS = 1 << 19


class StreamedTable(SourceTable):
    """Table in Parquet files whose rows are read in batches.

    ``column`` returns an empty column of the right type.

    Args:
        files: Files of the table, in order; all have the same columns.
        place: Name of the table in error messages.
        memory: Memory limit in bytes for a batch and the data computed from it.
        dropped: Row numbers to skip, ascending; None to skip no row.
        key_types: Mapping from the name of a key column to the type that its keys are converted to.
    """

    def __init__(
        self,
        files: TableFiles,
        place: str,
        memory: int,
        dropped: IntArray | None = None,
        key_types: Mapping[str, KeyType] | None = None,
    ) -> None:
        self._files, self._memory, self._key_types = files, memory, dict(key_types or {})
        self._dropped = np.zeros(0, dtype=np.int64) if dropped is None else dropped
        first, *_ = files.paths
        with _naming(first):
            schema = pa.parquet.read_schema(first, filesystem=files.filesystem)
        super().__init__(self._converted(SourceTable(schema.empty_table(), place))._content, place)
        sizes = [self._sizes(file, schema) for file in files.paths]
        self._num_rows, self._bytes = (sum(size) for size in zip(*sizes, strict=True))

    def _sizes(self, file: str, schema: Any) -> tuple[int, int]:
        """Return the number of rows and the uncompressed size in bytes of a Parquet file."""
        with _naming(file):
            part = pa.parquet.read_metadata(file, filesystem=self._files.filesystem)
        require_same_columns(part.schema.to_arrow_schema(), schema, file, self._files.paths[0])
        groups = map(part.row_group, range(part.num_row_groups))
        return part.num_rows, sum(group.total_byte_size for group in groups)

    @property
    def _batch_rows(self) -> int:
        row = _COPIES * self._bytes // max(self._num_rows, 1) + _NUMBERS
        return int(min(max(self._memory // row, 64), _MOST_ROWS))

    def __len__(self) -> int:
        return int(self._num_rows - self._dropped.size)

    def without(self, rows: IntArray) -> "StreamedTable":
        """Return this table without the rows with these numbers in the files, ascending."""
        return StreamedTable(self._files, self.place, self._memory, rows, self._key_types)

    def with_keys(self, names: Iterable[str], key_type: KeyType) -> "StreamedTable":
        """Return this table with key columns that are converted to the key type on reading."""
        types = self._key_types | dict.fromkeys(names, key_type)
        return StreamedTable(self._files, self.place, self._memory, self._dropped, types)

    def _converted(self, table: SourceTable) -> SourceTable:
        for name, key_type in self._key_types.items():
            if name in table._content.column_names:
                table = table.with_keys([name], key_type)
        return table

    def batches(self, *columns: str) -> Iterator[SourceTable]:
        """Yield the rows of the table in batches that fit into memory."""
        for name in columns:
            self.column(name)
        start = 0
        filesystem = self._files.filesystem
        for file in self._files.paths:
            with (
                _naming(file),
                pa.parquet.ParquetFile(file, buffer_size=_BUFFER, filesystem=filesystem) as part,
            ):
                for batch in part.iter_batches(self._batch_rows, columns=list(columns) or None):
                    numbers = np.arange(start, start + batch.num_rows)
                    content = pa.Table.from_batches([batch])
                    table = self._converted(SourceTable(content, self.place, numbers))
                    first, last = np.searchsorted(self._dropped, (start, start + len(table)))
                    if last - first < len(table):
                        yield table.without(self._dropped[first:last] - start)
                    start += batch.num_rows


@contextmanager
def _naming(file: str) -> Iterator[None]:
    """Convert read errors in the ``with`` block to a DataError that names the file."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{file} cannot be read: {error}") from error


def stream_source(
    source: Source,
    what: str,
    memory: int,
    texts: Sequence[str] = (),
    delimiter: str | None = None,
) -> SourceTable:
    """Like ``read_source``, but open Parquet files to read them in batches.

    Args:
        memory: Memory limit in bytes for a batch and the data computed from it.
    """
    if isinstance(source, str | Path) and not is_database(source):
        files = TableFiles.of(source)
        if files.is_parquet:
            return StreamedTable(files, str(source), memory)
    return read_source(source, what, texts, delimiter)
