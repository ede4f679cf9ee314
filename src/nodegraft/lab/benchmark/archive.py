"""Folder of records: one file for each run until they are packed, and one for each failed job."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet

from nodegraft.base.errors import DataError, RecordConflictError
from nodegraft.base.files.folder import WriteOnceFolder
from nodegraft.base.hashing import content_hash
from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.benchmark.record import (
    CLASSES,
    RunRecord,
    comparable,
    same_parameters,
    with_known_schema,
)

LOOSE = ".json"
TRIES = 10
"""How often a folder is listed anew while its files are being packed."""

Read = TypeVar("Read")
_IS_RECORD = re.compile(r"[0-9a-f]{32}\.json|.+-[0-9a-f]{8}\.parquet")


class Archive:
    """A folder of records, on this machine or behind a URL. Many may write into it at once.

    A record that is there is never touched: ``RUN.json`` is written by whoever ran the job, and
    :meth:`compact` puts such files together without changing what they say.

    Args:
        place: The folder, which need not exist yet.
    """

    def __init__(self, place: str | Path) -> None:
        self._folder = WriteOnceFolder(place)

    @property
    def place(self) -> str:
        """The folder."""
        return self._folder.place

    def documents(self) -> list[dict[str, Any]]:
        """What all records say, without their tables, in the order of their names."""
        return [record.document for record in self._again(lambda: self._all(with_classes=False))]

    def records(self) -> list[RunRecord]:
        """All records with their tables."""
        return self._again(lambda: self._all(with_classes=True))

    def _all(self, with_classes: bool) -> list[RunRecord]:
        by_name: dict[str, RunRecord] = {}
        packed = [
            record for name in self._names(SUFFIX) for record in self._packed(name, with_classes)
        ]
        for record in (*packed, *map(self._loose, self._names(LOOSE))):
            # A record may lie in two places while it is being packed, and says the same in both.
            earlier = by_name.setdefault(record.run, record)
            if comparable(earlier.document) != comparable(record.document):
                raise self._conflict(earlier, record)
        return [record for _, record in sorted(by_name.items())]

    def find(self, run: str) -> RunRecord | None:
        """A record, or None where there is none."""
        return self._again(lambda: self._find(run))

    def _find(self, run: str) -> RunRecord | None:
        if f"{run}{LOOSE}" in self._names(LOOSE):
            return self._loose(f"{run}{LOOSE}")
        for name in self._names(SUFFIX):
            if any(record.run == run for record in self._packed(name, with_classes=False)):
                return next(record for record in self._packed(name) if record.run == run)
        return None

    def write(self, record: RunRecord) -> str:
        """Put a record on file; returns where it is.

        Running the same thing again must give the same result, and it is an error if it does not.
        """
        earlier = self.find(record.run)
        if earlier is not None and not same_parameters(earlier.document, record.document):
            # A default has changed since: another run, and its name must count all parameters.
            record = record.named_by_all_parameters()
            earlier = self.find(record.run)
        name = f"{record.run}{LOOSE}"
        if earlier is None and not self._folder.write(name, record.to_bytes()):
            earlier = self._loose(name)
        if earlier is not None:
            same = comparable(earlier.document) == comparable(record.document)
            if not (same and earlier.classes.equals(record.classes)):
                raise self._conflict(earlier, record)
        return f"{self.place}/{name}"

    def _conflict(self, earlier: RunRecord, now: RunRecord) -> RecordConflictError:
        first, second = _code(earlier.document), _code(now.document)
        return RecordConflictError(
            f"Record {now.run} in {self.place} says something else about the same run. It was "
            f"made by nodegraft {first}, this one by {second}: the code changed in between, or the "
            "run is not deterministic. Write to another folder."
        )

    def compact(self) -> list[str]:
        """Put all records of a dataset into one file, and take away what they lay in before.

        Whoever is killed in between leaves a record in two places, which is no harm.

        Returns:
            The names of the files there are now.
        """
        return self._again(self._compact)

    def _compact(self) -> list[str]:
        loose, packs = self._names(LOOSE), self._names(SUFFIX)
        by_dataset: dict[str, list[RunRecord]] = {}
        for record in self.records():
            by_dataset.setdefault(record.document["dataset"], []).append(record)
        named = {pack_name(dataset, some): some for dataset, some in by_dataset.items()}
        for name, some in named.items():
            self._folder.write(name, pack(some))
        for name in (*loose, *packs):
            if name not in named:
                self._folder.remove(name)
        return sorted(named)

    def _names(self, suffix: str) -> list[str]:
        # Other files may lie beside the records.
        return [name for name in self._folder.names(suffix) if _IS_RECORD.fullmatch(name)]

    def _loose(self, name: str) -> RunRecord:
        return self._whole(name, RunRecord.from_bytes)

    def _packed(self, name: str, with_classes: bool = True) -> list[RunRecord]:
        return self._whole(name, lambda content: unpack(content, with_classes))

    def _whole(self, name: str, read: Callable[[bytes], Read]) -> Read:
        content = self._folder.read(name)
        try:
            return read(content)
        except DataError as error:
            raise DataError(f"{self.place}/{name}: {error}") from error
        except (ValueError, KeyError, TypeError, pa.ArrowException) as error:
            raise DataError(f"{self.place}/{name} is no whole record: {error!r}.") from error

    def _again(self, look: Callable[[], Read]) -> Read:
        """What a look at the folder gives, though files move while somebody packs them."""
        for _ in range(TRIES):
            try:
                return look()
            except FileNotFoundError:
                continue
        return look()


def read_documents(place: str | Path) -> list[dict[str, Any]]:
    """What all records of a folder say, in the order of their names."""
    return Archive(place).documents()


def with_run(records: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """The tables of records as rows, each with the name of its record."""
    return [{"run": record.run, **row} for record in records for row in record.classes.to_pylist()]


def _code(document: Mapping[str, Any]) -> str:
    source = document["source"]
    code = source.get("hash") or source.get("commit") or "of an unknown source"
    return f"{source['version']} ({code[:12]})"


def write_failure(out: str | Path, job: Job, error: str) -> str:
    """Put it on record; returns where."""
    folder, name = _folder(out), f"{job.key}-{uuid4().hex}.json"
    document = {
        "job": job.key,
        "title": job.title,
        "protocol": job.protocol,
        "parameters": dict(job.parameters),
        "error": error,
    }
    folder.write(name, (json.dumps(document, indent=2) + "\n").encode())
    return f"{folder.place}/{name}"


def failed_keys(out: str | Path) -> set[str]:
    """The keys of jobs with at least one failed attempt."""
    return {name.partition("-")[0] for name in _folder(out).names(".json")}


def read_failures(out: str | Path) -> list[dict[str, Any]]:
    """All of them."""
    folder = _folder(out)
    return [_read(folder, name) for name in folder.names(".json")]


def _read(folder: WriteOnceFolder, name: str) -> dict[str, Any]:
    try:
        return dict(json.loads(folder.read(name)))
    except (ValueError, TypeError) as error:
        raise DataError(f"{folder.place}/{name} is no whole record of a failure.") from error


def _folder(out: str | Path) -> WriteOnceFolder:
    return WriteOnceFolder(f"{out}/failed")


SUFFIX = ".parquet"
COLUMNS = pa.schema(
    [
        ("run", pa.string()),
        ("document", pa.string()),
        ("classes", pa.list_(pa.struct(list(CLASSES)))),
    ]
)


def pack_name(dataset: str, records: Iterable[RunRecord]) -> str:
    """Return the file name of a pack of records."""
    return f"{dataset}-{content_hash(sorted(record.run for record in records))[:8]}{SUFFIX}"


def pack(records: Sequence[RunRecord]) -> bytes:
    """Return a Parquet file with a row for each record."""
    rows = [
        {
            "run": record.run,
            "document": json.dumps(record.document),
            "classes": record.classes.to_pylist(),
        }
        for record in sorted(records, key=lambda record: record.run)
    ]
    sink = pa.BufferOutputStream()
    table = pa.Table.from_pylist(rows, schema=COLUMNS)
    pa.parquet.write_table(table, sink, compression="zstd", compression_level=15)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def unpack(content: bytes, with_classes: bool = True) -> list[RunRecord]:
    """Return the records of a pack.

    Args:
        content: All bytes of the file.
        with_classes: Whether their tables are read, by far the largest part; else those are empty.
    """
    columns = None if with_classes else ["document"]
    rows = pa.parquet.read_table(pa.BufferReader(content), columns=columns).to_pylist()
    return [
        RunRecord(
            with_known_schema(json.loads(row["document"])),
            pa.Table.from_pylist(row.get("classes", []), schema=CLASSES),
        )
        for row in rows
    ]
