"""External sorting: distribute records to files on disk by range, then sort each file in memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Records = NDArray[np.void]

_MOST_FILES = 10
"""Maximum number of bucket files as a power of two: 2 to this power."""


class Buckets:
    """Records on disk, with a separate file for each range of an integer field.

    All ranges have the same width. If a range has too many records for memory, it is split into
    smaller ranges, for example when a few nodes have very many edges.

    Args:
        folder: New folder for the bucket files.
        dtype: NumPy type of a record.
        by: Name of the integer field that determines the range of a record.
        bits: Number of bits of the field's values after subtraction of ``start``.
        most: Maximum number of records in memory at once.
        expected: Estimated number of records.
        start: Smallest possible value of the field.
    """

    def __init__(
        self,
        folder: Path,
        dtype: np.dtype[Any],
        *,
        by: str,
        bits: int,
        most: int,
        expected: int,
        start: int = 0,
    ) -> None:
        folder.mkdir(parents=True)
        self._folder, self._dtype, self._by, self._most = folder, dtype, by, most
        parts = max(0, -(-expected // most) - 1).bit_length()
        self._shift = bits - min(parts, bits, _MOST_FILES)
        self._count, self._start = 1 << (bits - self._shift), start

    def add(self, records: Records) -> None:
        """Append each record to the file of its range."""
        if self._count == 1:
            self._append(0, records)
            return
        numbers = records[self._by].astype(np.uint64) - np.uint64(self._start)
        # Convert to 16-bit integers, because NumPy sorts them in linear time by radix sort.
        ranges = (numbers >> np.uint64(self._shift)).astype(np.uint16)
        placed = records[np.argsort(ranges, kind="stable")]
        ends = np.cumsum(np.bincount(ranges, minlength=self._count))
        for place, (first, last) in enumerate(zip((0, *ends[:-1]), ends, strict=True)):
            if last > first:
                self._append(place, placed[first:last])

    def _append(self, place: int, records: Records) -> None:
        with self._file(place).open("ab") as file:
            file.write(records.data)

    def _file(self, place: int) -> Path:
        return self._folder / f"{place}.records"

    def parts(self) -> Iterator[tuple[int, int, Records]]:
        """Yield first value, last value plus one, and records of each range, in ascending order.

        The file of a range is removed when the caller asks for the next range.
        """
        for place in range(self._count):
            start = self._start + (place << self._shift)
            file = self._file(place)
            file.touch()
            size = file.stat().st_size // self._dtype.itemsize
            if size > self._most and self._shift:
                yield from self._divided(file, start, size).parts()
            else:
                yield start, start + (1 << self._shift), np.fromfile(file, self._dtype)
            file.unlink()

    def _divided(self, file: Path, start: int, size: int) -> "Buckets":
        finer = Buckets(
            file.with_suffix(""),
            self._dtype,
            by=self._by,
            bits=self._shift,
            most=self._most,
            expected=size,
            start=start,
        )
        with file.open("rb") as source:
            while (records := np.fromfile(source, self._dtype, self._most)).size:
                finer.add(records)
        return finer
