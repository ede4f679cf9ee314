"""Folder of a graph build, with a journal of finished steps so that a build can resume."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nodegraft.base.errors import CheckpointError
from nodegraft.base.files.array_file import SUFFIX, ArrayWriter, StoredArray, flush_to_disk
from nodegraft.graph.disk.mapped import MANIFEST, Manifest

JOURNAL = "building.jsonl"
"""Journal file until the build is complete: the request, then a line for each finished step."""

MEMORY = 1_000_000_000
"""Default memory limit of a graph build, in bytes."""

_WORK = "work"

StoredArrays = dict[str, StoredArray]
"""Descriptions of the written arrays, by name."""


class Step(NamedTuple):
    """Result of a finished step of a graph build."""

    arrays: Mapping[str, StoredArray]
    """Descriptions of the arrays that the step wrote, by name."""

    document: Mapping[str, Any]
    """Other results of the build step, as JSON."""


class BuildFolder:
    """Folder of a graph build, which is new or resumes after an interruption.

    Args:
        place: Path of the build folder.
        request: JSON with the tables' identities, the options and all else that determines the
            result.
    """

    def __init__(self, place: Path, request: Mapping[str, Any]) -> None:
        self.place, self._request = place, json.loads(json.dumps(request))
        try:
            self._steps = self._finished_steps()
            if self._steps is None:
                self._begin()
        except OSError as error:
            raise CheckpointError(f"{place} cannot be written: {error}.") from error

    def _finished_steps(self) -> dict[str, Step] | None:
        """Return the finished steps of an earlier build.

        The result is None if there is no build with an equal request.
        """
        if (self.place / MANIFEST).exists():
            raise CheckpointError(f"{self.place} already contains a graph: choose a new folder.")
        journal = self.place / JOURNAL
        if not journal.exists():
            if self.place.exists() and any(self.place.iterdir()):
                raise CheckpointError(f"{self.place} already exists: choose a new folder.")
            return None
        lines = journal.read_text().splitlines()
        if not lines or _parsed(lines[0]) != self._request:
            return None
        # Skip the last line if it cannot be parsed: an interrupted build may have written only a
        # part of it.
        steps = filter(None, map(_parsed, lines[1:]))
        return {line["step"]: Step(_stored(line["arrays"]), line["document"]) for line in steps}

    def _begin(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir(parents=True)
        self._steps = {}
        self._note(self._request)

    def _note(self, line: Mapping[str, Any]) -> None:
        with (self.place / JOURNAL).open("a") as journal:
            journal.write("\n" + json.dumps(line) if journal.tell() else json.dumps(line))
        flush_to_disk(self.place / JOURNAL)

    def finished(self, step: str) -> Step | None:
        """Return the result of a build step, or None if the step is not finished."""
        return (self._steps or {}).get(step)

    def finish(self, step: str, arrays: Mapping[str, StoredArray], document: Any) -> Step:
        """Add a finished build step to the journal; remove the step's temporary files."""
        written = {name: array.to_json() for name, array in arrays.items()}
        self._note({"step": step, "arrays": written, "document": document})
        shutil.rmtree(self.place / _WORK, ignore_errors=True)
        return Step(arrays, document)

    def work(self, name: str) -> Path:
        """Return the path of a folder for temporary files; the folder does not exist yet."""
        place = self.place / _WORK / name
        shutil.rmtree(place, ignore_errors=True)
        return place

    def writer(self, array: str, dtype: Any, row: tuple[int, ...] = ()) -> ArrayWriter:
        """Return a writer for one array of the graph."""
        return ArrayWriter(self.place / f"{array}{SUFFIX}", dtype, row)

    def close(self, manifest: Manifest) -> None:
        """Write the manifest, which marks the graph as complete, and remove the journal."""
        manifest.write(self.place)
        (self.place / JOURNAL).unlink()


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _stored(arrays: Mapping[str, Any]) -> dict[str, StoredArray]:
    return {name: StoredArray.from_json(array) for name, array in arrays.items()}
