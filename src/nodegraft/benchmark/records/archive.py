"""Where records lie: one small file a run while jobs are running, packed when somebody asks."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nodegraft.base.errors import RecordConflictError
from nodegraft.base.files.folder import WriteOnceFolder
from nodegraft.benchmark.records.pack import (
    SUFFIX,
    pack,
    pack_name,
    unpack,
    unpack_document,
    unpack_documents,
)
from nodegraft.benchmark.records.record import RunRecord, comparable

LOOSE = ".json"
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
        found = [self._loose(name).document for name in self._names(LOOSE)]
        for name in self._names(SUFFIX):
            found += unpack_documents(self._folder.read(name))
        # A record may lie in two places for a moment, while it is being packed.
        return [one for _, one in sorted({one["run"]: one for one in found}.items())]

    def records(self) -> list[RunRecord]:
        """All records with their tables."""
        found = [self._loose(name) for name in self._names(LOOSE)]
        for name in self._names(SUFFIX):
            found += unpack(self._folder.read(name))
        return [one for _, one in sorted({one.run: one for one in found}.items())]

    def find(self, run: str) -> dict[str, Any] | None:
        """What a record says, or None where there is none.

        Args:
            run: The name of the record.
        """
        if f"{run}{LOOSE}" in self._names(LOOSE):
            return self._loose(f"{run}{LOOSE}").document
        packed = (unpack_document(self._folder.read(name), run) for name in self._names(SUFFIX))
        return next((one for one in packed if one is not None), None)

    def write(self, record: RunRecord) -> str:
        """Put a record on file; returns where it is.

        Running the same thing again must give the same result, and it is an error if it does not.

        Args:
            record: The record.
        """
        name = f"{record.run}{LOOSE}"
        earlier = self.find(record.run)
        if earlier is None and not self._folder.write(name, record.to_bytes()):
            earlier = self._loose(name).document
        if earlier is not None:
            self._compare(earlier, record.document)
        return f"{self.place}/{name}"

    def _compare(self, earlier: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        if comparable(earlier) != comparable(now):
            raise RecordConflictError(
                f"Record {now['run']} in {self.place} says something else about the same run. It "
                f"was made by nodegraft {_told(earlier)}, this one by {_told(now)}: the code "
                "changed in between, or the run is not deterministic. Write to another folder."
            )

    def compact(self) -> list[str]:
        """Put all records of a dataset into one file, and take away what they lay in before.

        Whoever is killed in between leaves a record in two places, which is no harm.

        Returns:
            The names of the files there are now.
        """
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
        return RunRecord.from_bytes(self._folder.read(name))


def read_documents(place: str | Path) -> list[dict[str, Any]]:
    """What all records of a folder say, in the order of their names.

    Args:
        place: The folder.
    """
    return Archive(place).documents()


def with_run(records: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """The tables of records as rows, each with the name of its record.

    Args:
        records: The records.
    """
    return [{"run": one.run, **row} for one in records for row in one.classes.to_pylist()]


def _told(document: Mapping[str, Any]) -> str:
    source = document["source"]
    code = source.get("hash") or source.get("commit") or "of an unknown source"
    return f"{source['version']} ({code[:12]})"
