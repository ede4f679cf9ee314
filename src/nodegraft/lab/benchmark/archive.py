"""Archive of run records and of failed jobs.

Each run has its own file until records are packed.
"""

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
"""Maximum number of attempts to read files that disappear because another process packs them."""

Read = TypeVar("Read")
_IS_RECORD = re.compile(r"[0-9a-f]{32}\.json|.+-[0-9a-f]{8}\.parquet")


class Archive:
    """Folder of run records, local or at a URL. Several processes may write to it at once.

    Records never change: the process that runs a job writes ``RUN.json``, and :meth:`compact`
    merges such files without changing their content.

    Args:
        place: Path or URL of the folder, which need not exist yet.
    """

    def __init__(self, place: str | Path) -> None:
        self._folder = WriteOnceFolder(place)

    @property
    def place(self) -> str:
        """Path or URL of the folder."""
        return self._folder.place

    def documents(self) -> list[dict[str, Any]]:
        """Return the documents of all records, without their tables, sorted by run name."""
        return [record.document for record in self._again(lambda: self._all(with_classes=False))]

    def records(self) -> list[RunRecord]:
        """Return all records with their tables, sorted by run name."""
        return self._again(lambda: self._all(with_classes=True))

    def _all(self, with_classes: bool) -> list[RunRecord]:
        by_name: dict[str, RunRecord] = {}
        packed = [
            record for name in self._names(SUFFIX) for record in self._packed(name, with_classes)
        ]
        for record in (*packed, *map(self._loose, self._names(LOOSE))):
            # While records are packed, two files may hold the same record with equal content.
            earlier = by_name.setdefault(record.run, record)
            if comparable(earlier.document) != comparable(record.document):
                raise self._conflict(earlier, record)
        return [record for _, record in sorted(by_name.items())]

    def find(self, run: str) -> RunRecord | None:
        """Return the record of a run; None if there is none."""
        return self._again(lambda: self._find(run))

    def _find(self, run: str) -> RunRecord | None:
        if f"{run}{LOOSE}" in self._names(LOOSE):
            return self._loose(f"{run}{LOOSE}")
        for name in self._names(SUFFIX):
            if any(record.run == run for record in self._packed(name, with_classes=False)):
                return next(record for record in self._packed(name) if record.run == run)
        return None

    def write(self, record: RunRecord) -> str:
        """Write a record to a file and return the path of the file.

        If the run has a record already, both records must hold the same result; otherwise an error
        is raised.
        """
        earlier = self.find(record.run)
        if earlier is not None and not same_parameters(earlier.document, record.document):
            # A default value has changed since the record was made, so this is a different run:
            # name it by all parameters.
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
        """Merge the records of each dataset into one file, and delete their previous files.

        If the process is killed before it has deleted the previous files, some records are in two
        files, which is harmless.

        Returns:
            Names of the merged files.
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
        # The folder may also contain files that are not records.
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
        """Read the folder; retry if files disappear because another process packs them."""
        for _ in range(TRIES):
            try:
                return look()
            except FileNotFoundError:
                continue
        return look()


def read_documents(place: str | Path) -> list[dict[str, Any]]:
    """Return the documents of all records in a folder, sorted by run name."""
    return Archive(place).documents()


def _code(document: Mapping[str, Any]) -> str:
    source = document["source"]
    code = source.get("hash") or source.get("commit") or "of an unknown source"
    return f"{source['version']} ({code[:12]})"


def write_failure(out: str | Path, job: Job, error: str) -> str:
    """Write the record of a failed job and return its path."""
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
    """Return the keys of jobs that failed at least once."""
    return {name.partition("-")[0] for name in _folder(out).names(".json")}


def read_failures(out: str | Path) -> list[dict[str, Any]]:
    """Return the records of all failed jobs."""
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
    """Return the name of the file into which records of a dataset are packed."""
    return f"{dataset}-{content_hash(sorted(record.run for record in records))[:8]}{SUFFIX}"


def pack(records: Sequence[RunRecord]) -> bytes:
    """Pack records into the content of a Parquet file with one row per record."""
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
    """Return the records in a packed Parquet file.

    Args:
        with_classes: Whether to read the tables, which are by far the largest part; otherwise
            tables are empty.
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
