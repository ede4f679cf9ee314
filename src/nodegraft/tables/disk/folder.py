"""Folder of a build, with a journal of finished steps, so that a build can resume."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nodegraft.base.errors import CheckpointError
from nodegraft.base.files.array_file import SUFFIX, ArrayWriter, StoredArray, flush_to_disk
from nodegraft.graph.disk.mapped import MANIFEST, Manifest

JOURNAL = "building.jsonl"
"""The request, then a line for each finished step; removed when the graph is complete."""

_WORK = "work"

Written = dict[str, StoredArray]
"""Arrays that were written, by name."""


class Step(NamedTuple):
    """Result of a finished step."""

    arrays: Mapping[str, StoredArray]
    """The arrays that it wrote."""

    document: Mapping[str, Any]
    """Other results, as JSON."""


class BuildFolder:
    """A new folder, or one in which the same build was interrupted.

    Args:
        place: The folder.
        request: All that the result depends on, as JSON.
    """

    def __init__(self, place: Path, request: Mapping[str, Any]) -> None:
        self.place, self._request = place, json.loads(json.dumps(request))
        try:
            self._steps = self._found()
            if self._steps is None:
                self._begin()
        except OSError as error:
            raise CheckpointError(f"{place} cannot be written: {error}.") from error

    def _found(self) -> dict[str, Step] | None:
        """Return the steps that an earlier build for the same request has finished."""
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
        # The last line may be cut off.
        done = filter(None, map(_parsed, lines[1:]))
        return {line["step"]: Step(_stored(line["arrays"]), line["document"]) for line in done}

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
        """Return the result of a step, or None if it is not finished."""
        return (self._steps or {}).get(step)

    def finish(self, step: str, arrays: Mapping[str, StoredArray], document: Any) -> Step:
        """Add a finished step to the journal, and remove its work files."""
        written = {name: array.to_json() for name, array in arrays.items()}
        self._note({"step": step, "arrays": written, "document": document})
        shutil.rmtree(self.place / _WORK, ignore_errors=True)
        return Step(arrays, document)

    def work(self, name: str) -> Path:
        """Return a folder for work files of a step, which does not exist yet."""
        place = self.place / _WORK / name
        shutil.rmtree(place, ignore_errors=True)
        return place

    def writer(self, array: str, dtype: Any, row: tuple[int, ...] = ()) -> ArrayWriter:
        """Return a writer for an array of the graph."""
        return ArrayWriter(self.place / f"{array}{SUFFIX}", dtype, row)

    def close(self, manifest: Manifest) -> None:
        """Write the manifest, which makes the folder a complete graph."""
        manifest.write(self.place)
        (self.place / JOURNAL).unlink()


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _stored(arrays: Mapping[str, Any]) -> dict[str, StoredArray]:
    return {name: StoredArray.from_json(array) for name, array in arrays.items()}
