"""The record of a run: immutable, named by a hash of its inputs, JSON beside Parquet."""

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from nodegraft.base.errors import RecordConflictError
from nodegraft.base.hashing import content_hash
from nodegraft.benchmark.folder import AppendOnlyFolder
from nodegraft.benchmark.protocol import STRICT, SessionResult, Trace
from nodegraft.datasets.base import LoadedDataset
from nodegraft.graph.stream import ClassStream
from nodegraft.methods.base import Method

SCHEMA = 2
PACKAGES = (
    "nodegraft",
    "torch",
    "torch_geometric",
    "numpy",
    "scipy",
    "scikit-learn",
    "pyarrow",
    "safetensors",
)

# What may differ between two runs of the same thing: what a clock says, and where they ran.
MEASURED = ("seconds", "query_seconds", "peak_bytes")
SURROUNDINGS = ("versions", "notes")


@dataclass(frozen=True)
class RunRecord:
    """A JSON document, and a table with one row per session and class."""

    document: dict[str, Any]
    table: Any

    @property
    def name(self) -> str:
        """The hash of the inputs."""
        name: str = self.document["run"]
        return name

    def write(self, place: str | Path) -> str:
        """Write ``NAME.json`` and ``NAME.parquet`` into a folder; returns where the JSON is.

        A record that exists is never touched: running the same thing again must give the same
        result, and it is an error if it does not.
        """
        folder, name = AppendOnlyFolder(place), f"{self.name}.json"
        folder.write(f"{self.name}.parquet", _parquet(self.table))
        # The JSON comes last: a record without it was cut short and does not count.
        content = json.dumps(self.document, indent=2) + "\n"
        if not folder.write(name, content.encode()):
            self._compare(json.loads(folder.read(name)), folder.place)
        return f"{folder.place}/{name}"

    def _compare(self, earlier: Mapping[str, Any], place: str) -> None:
        if comparable(earlier) != comparable(json.loads(json.dumps(self.document))):
            raise RecordConflictError(
                f"{place}/{self.name}.json records another result for the same inputs: the code "
                "changed since (or the run is not deterministic). Write to another folder, or "
                "delete the record."
            )


def read_records(folder: str | Path) -> list[dict[str, Any]]:
    """The documents of all records in a folder, in the order of their names."""
    files = AppendOnlyFolder(folder)
    return [json.loads(files.read(name)) for name in files.names(".json")]


def read_record(place: str) -> dict[str, Any]:
    """The document of the record whose JSON is there."""
    folder, _, name = place.rpartition("/")
    document: dict[str, Any] = json.loads(AppendOnlyFolder(folder).read(name))
    return document


def comparable(document: Mapping[str, Any]) -> dict[str, Any]:
    """A record without what may differ between two runs of the same thing."""
    sessions = [_without_measured(session) for session in document["sessions"]]
    summary = _without_measured(document["summary"])
    kept = {name: value for name, value in document.items() if name not in SURROUNDINGS}
    return {**kept, "sessions": sessions, "summary": summary}


def make_record(
    method: Method,
    dataset: LoadedDataset,
    stream: ClassStream,
    trace: Trace,
    protocol: str = STRICT,
) -> RunRecord:
    """Everything about a finished run."""
    inputs = {
        "method": method.name,
        "dataset": dataset.name,
        "seed": stream.split.seed,
        "protocol": protocol,
        "arrival": stream.arrival,
        "setting": asdict(stream.split.setting),
        "parameters": method.parameters(),
        "hashes": {"dataset": dataset.content_hash, "split": stream.split.content_hash},
        "nodegraft": version("nodegraft"),
    }
    versions = {name: version(name) for name in PACKAGES}
    run = content_hash(inputs)
    document = {
        "run": run,
        "schema": SCHEMA,
        **{name: value for name, value in inputs.items() if name != "nodegraft"},
        "dataset_options": dict(dataset.options),
        "default_setting": asdict(dataset.setting),
        "versions": {"python": platform.python_version(), **versions},
        "notes": list(dataset.notes),
        "sessions": [_session(result) for result in trace.sessions],
        "summary": trace.summary,
    }
    return RunRecord(document, _class_table(trace, run))


def _session(result: SessionResult) -> dict[str, Any]:
    per_class = ("recall", "asked")
    return {name: value for name, value in vars(result).items() if name not in per_class}


def _class_table(trace: Trace, run: str) -> Any:
    rows = [
        {
            "run": run,
            "session": result.index,
            "class": name,
            "queries": result.asked[name],
            "recall": recall,
        }
        for result in trace.sessions
        for name, recall in result.recall.items()
    ]
    return pa.Table.from_pylist(rows)


def _without_measured(numbers: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in numbers.items() if name not in MEASURED}


def _parquet(table: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(table, sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content
