"""The folder of a graph that is being built: what is done already is not done again."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nodegraft.base.errors import CheckpointError
from nodegraft.base.files.array_file import SUFFIX, ArrayWriter, StoredArray
from nodegraft.base.files.flush import flush_to_disk
from nodegraft.graph.disk.manifest import MANIFEST, Manifest

JOURNAL = "building.jsonl"
"""What was asked for, then a line for each step that is finished; gone when the graph is whole."""

_WORK = "work"


class Step(NamedTuple):
    """What a finished step has left."""

    arrays: Mapping[str, StoredArray]
    """The arrays that it wrote."""

    document: Mapping[str, Any]
    """What else is known by it, as JSON."""


class BuildFolder:
    """A new folder, or one in which the same build was cut.

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
        """The steps that a build for the same request has finished."""
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
        # The last line may have been cut.
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
        """What a step has left, if it is finished.

        Args:
            step: Its name.
        """
        return (self._steps or {}).get(step)

    def finish(self, step: str, arrays: Mapping[str, StoredArray], document: Any) -> Step:
        """Remember that a step is finished.

        Args:
            step: Its name.
            arrays: The arrays that it wrote.
            document: What else is known by it, as JSON.
        """
        written = {name: one.to_json() for name, one in arrays.items()}
        self._note({"step": step, "arrays": written, "document": document})
        shutil.rmtree(self.place / _WORK, ignore_errors=True)
        return Step(arrays, document)

    def work(self, name: str) -> Path:
        """A folder for what is needed while a step runs; it does not exist yet.

        Args:
            name: Its name.
        """
        place = self.place / _WORK / name
        shutil.rmtree(place, ignore_errors=True)
        return place

    def writer(self, array: str, dtype: Any, row: tuple[int, ...] = ()) -> ArrayWriter:
        """Writes an array of the graph.

        Args:
            array: Its name.
            dtype: The type of its numbers.
            row: The shape of one item.
        """
        return ArrayWriter(self.place / f"{array}{SUFFIX}", dtype, row)

    def close(self, manifest: Manifest) -> None:
        """Say that the graph is whole.

        Args:
            manifest: What it is made of.
        """
        manifest.write(self.place)
        (self.place / JOURNAL).unlink()


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _stored(arrays: Mapping[str, Any]) -> dict[str, StoredArray]:
    return {name: StoredArray.from_json(one) for name, one in arrays.items()}
