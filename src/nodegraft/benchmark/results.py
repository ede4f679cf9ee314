"""The record of a run: immutable, named by a hash of its inputs, JSON beside Parquet."""

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet

from nodegraft.base.errors import RecordConflictError
from nodegraft.base.hashing import content_hash
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

# What may differ between two runs of the same thing.
MEASURED = ("seconds", "query_seconds", "peak_bytes")


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

    def write(self, folder: str | Path) -> Path:
        """Write ``NAME.json`` and ``NAME.parquet``; returns the JSON's path.

        A record that exists is never touched: running the same thing again must give the same
        result, and it is an error if it does not.
        """
        place = Path(folder) / f"{self.name}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists():
            self._compare(place)
            return place
        _write_once(place.with_suffix(".parquet"), _parquet(self.table))
        # The JSON comes last: a record without it was cut short and does not count.
        _write_once(place, (json.dumps(self.document, indent=2) + "\n").encode())
        return place

    def _compare(self, place: Path) -> None:
        earlier = json.loads(place.read_text())
        if _comparable(earlier) != _comparable(json.loads(json.dumps(self.document))):
            raise RecordConflictError(
                f"{place} records another result for the same inputs: the code changed since "
                "(or the run is not deterministic). Write to another folder, or delete the record."
            )


def read_records(folder: str | Path) -> list[dict[str, Any]]:
    """The documents of all records in a folder, in the order of their names."""
    return [json.loads(place.read_text()) for place in sorted(Path(folder).glob("*.json"))]


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


def _comparable(document: Mapping[str, Any]) -> Any:
    drop = set(MEASURED)
    sessions = [
        {name: value for name, value in session.items() if name not in drop}
        for session in document["sessions"]
    ]
    summary = {name: value for name, value in document["summary"].items() if name not in drop}
    return sessions, summary


def _parquet(table: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(table, sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _write_once(place: Path, content: bytes) -> None:
    draft = place.with_name(f".{place.name}.{uuid4().hex}")
    with draft.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.chmod(0o444)
    draft.replace(place)
