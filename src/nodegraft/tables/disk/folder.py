"""Folder of a graph build; a journal of finished steps lets an interrupted build resume."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nodegraft.base.errors import CheckpointError
from nodegraft.base.files.array_file import SUFFIX, ArrayWriter, StoredArray, flush_to_disk
from nodegraft.graph.disk.mapped import MANIFEST, Manifest

JOURNAL = "building.jsonl"
"""Journal file: the request, then one line for each finished step. Removed at the end."""

_WORK = "work"

Written = dict[str, StoredArray]
"""Written arrays by name."""


class Step(NamedTuple):
    """Result of a finished build step."""

    arrays: Mapping[str, StoredArray]
    """Arrays that the step wrote, by name."""

    document: Mapping[str, Any]
    """Other results of the step, as JSON."""


class BuildFolder:
    """Folder of a new build, or of an interrupted build that resumes.

    Args:
        place: Path of the folder.
        request: Sources, options and everything else that the result depends on, as JSON.
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
        """Return the finished steps of an earlier build with an equal request."""
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
        # The last line may be incomplete if the build was interrupted; it does not parse then.
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
        """Append a finished step to the journal and remove its work files."""
        written = {name: array.to_json() for name, array in arrays.items()}
        self._note({"step": step, "arrays": written, "document": document})
        shutil.rmtree(self.place / _WORK, ignore_errors=True)
        return Step(arrays, document)

    def work(self, name: str) -> Path:
        """Return the path of a folder for work files; the folder itself is not created."""
        place = self.place / _WORK / name
        shutil.rmtree(place, ignore_errors=True)
        return place

    def writer(self, array: str, dtype: Any, row: tuple[int, ...] = ()) -> ArrayWriter:
        """Return a writer for an array of the graph."""
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
