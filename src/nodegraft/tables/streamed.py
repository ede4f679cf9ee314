"""Parquet files that are read piece by piece, because all of them would not fit into memory."""

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

_BUFFER = 1 << 20
"""So many bytes of a column are read at once; otherwise a whole row group is."""

_COPIES, _NUMBERS = 16, 512
"""A row takes so many times its bytes in the file, and so many more, until it is written."""

_MOST_ROWS = 1 << 19


class StreamedTable(SourceTable):
    """The rows of Parquet files, one file after the other; ``batches`` is the way to them.

    Asked for a column, it gives an empty one of the right type.

    Args:
        files: The parts, in order; all of the same columns.
        place: What to call them in an error.
        memory: So many bytes may be used for a batch and what is made of it.
        dropped: Rows that are left out, ascending.
        key_types: Columns of node keys, and the type that they are converted to.
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
        """Rows and bytes, before compression."""
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
        """All but some rows.

        Args:
            rows: Row numbers of the files, ascending.
        """
        return StreamedTable(self._files, self.place, self._memory, rows, self._key_types)

    def with_keys(self, names: Iterable[str], key_type: KeyType) -> "StreamedTable":
        """Return the table with columns of node keys in one type.

        Args:
            names: The columns of keys.
            key_type: The type of the keys.
        """
        types = self._key_types | dict.fromkeys(names, key_type)
        return StreamedTable(self._files, self.place, self._memory, self._dropped, types)

    def _converted(self, table: SourceTable) -> SourceTable:
        for name, key_type in self._key_types.items():
            if name in table._content.column_names:
                table = table.with_keys([name], key_type)
        return table

    def batches(self, *columns: str) -> Iterator[SourceTable]:
        """The table in pieces that fit into memory.

        Args:
            columns: Those that are needed; none named means all.
        """
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
                    some = self._dropped[
                        slice(*np.searchsorted(self._dropped, (start, start + len(table))))
                    ]
                    if some.size < len(table):
                        yield table.without(some - start)
                    start += batch.num_rows


@contextmanager
def _naming(file: str) -> Iterator[None]:
    """Errors about a file name it."""
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
    """A table that is read piece by piece where that is possible: Parquet, a file or a folder.

    Args:
        source: A Parquet file, or a folder or glob of them, by path or URL; what else
            :func:`~nodegraft.tables.columns.read_source` reads is held in memory.
        what: What the table holds, for errors about one in memory.
        memory: So many bytes may be used for a batch and what is made of it.
        texts: Columns that a CSV file must not read as numbers.
        delimiter: What separates the columns of a CSV file; None to look at its header.
    """
    if isinstance(source, str | Path):
        files = TableFiles.of(source)
        if files.is_parquet:
            return StreamedTable(files, str(source), memory)
    return read_source(source, what, texts, delimiter)
