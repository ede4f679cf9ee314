"""Run records: immutable, with the hash of their inputs as name, and with a hash of the code."""

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nodegraft.base.errors import DataError
from nodegraft.base.hashing import content_hash, file_hash
from nodegraft.evaluation.protocol import STRICT, SessionResult, StreamResult
from nodegraft.evaluation.sealed.isolation import Isolation
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.model.registry import MethodDescription
from nodegraft.streams.stream import STREAM_VERSION, ClassStream

SCHEMA = 6

IDENTITY = (
    "method",
    "dataset",
    "seed",
    "node_seed",
    "stream_version",
    "protocol",
    "arrival",
    "setting",
    "changed_parameters",
    "dataset_options",
    "hashes",
)
"""Fields whose hash is the name of a run. Parameters are included only if they differ from their
defaults when the record is made. So parameters that are added later do not change the names of
older records."""

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

# Fields that may differ between two runs of the same job: measured time and memory, the
# environment, and parameters that were added later.
MEASURED = ("seconds", "query_seconds", "peak_bytes")
SURROUNDINGS = ("versions", "notes", "source", "parameters", "sealed", "isolation")

CLASSES = pa.schema(
    [
        ("session", pa.int64()),
        ("class", pa.string()),
        ("queries", pa.int64()),
        ("recall", pa.float64()),
    ]
)
"""Schema of a record's table, which has one row per session and class."""


@dataclass(frozen=True)
class RunRecord:
    """Inputs and results of one run."""

    document: dict[str, Any]
    """All fields of the record except the table, as plain JSON."""

    classes: Any
    """Arrow table with one row per session and class; see :data:`CLASSES`."""

    @property
    def run(self) -> str:
        """Name of the run: a hash of its inputs."""
        name: str = self.document["run"]
        return name

    def accuracy_matrix(self) -> NDArray[np.float64]:
        """Return the macro accuracy after each session, for classes grouped by arrival session.

        Returns:
            Matrix of sessions x arrival sessions of classes; NaN if the classes have not arrived
            yet.
        """
        sessions = self.document["sessions"]
        group = {name: session["index"] for session in sessions for name in session["new_classes"]}
        recalls: dict[tuple[int, int], list[float]] = {}
        for row in self.classes.to_pylist():
            place = row["session"], group[row["class"]]
            recalls.setdefault(place, []).append(row["recall"])
        matrix = np.full((len(sessions), len(sessions)), np.nan)
        for place, values in recalls.items():
            matrix[place] = np.mean(values)
        return matrix

    def to_bytes(self) -> bytes:
        """Return the record as the content of a JSON file."""
        document = {**self.document, "classes": self.classes.to_pydict()}
        return (json.dumps(document, indent=1) + "\n").encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> "RunRecord":
        """Parse a record from the JSON that :meth:`to_bytes` returned."""
        document = with_known_schema(json.loads(content))
        return cls(document, pa.table(document.pop("classes"), schema=CLASSES))

    def named_by_all_parameters(self) -> "RunRecord":
        """Return the record with a name that includes parameters with default values."""
        named = {"identity": run_name(self.document), "parameters": self.document["parameters"]}
        return RunRecord({**self.document, "run": content_hash(named)}, self.classes)


def run_name(document: Mapping[str, Any]) -> str:
    """Return the name of a run: a hash of the fields in :data:`IDENTITY`."""
    return content_hash({name: document[name] for name in IDENTITY})


def with_known_schema(document: dict[str, Any]) -> dict[str, Any]:
    """Return a record unchanged; raise DataError if its schema is not :data:`SCHEMA`."""
    if document["schema"] != SCHEMA:
        raise DataError(
            f"A record has schema {document['schema']}, and this nodegraft reads schema {SCHEMA}: "
            "read it with the nodegraft that wrote it."
        )
    return document


def comparable(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without the fields that may differ between two runs of the same job."""
    plain = json.loads(json.dumps(document))
    sessions = [_without_measured(session) for session in plain["sessions"]]
    summary = _without_measured(plain["summary"])
    parameters = {name: value for name, value in plain.items() if name not in SURROUNDINGS}
    return {**parameters, "sessions": sessions, "summary": summary}


def same_parameters(record: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two records have equal values of all parameters that both have."""
    first, second = record["parameters"], other["parameters"]
    return all(value == second.get(name, value) for name, value in first.items())


def make_record(
    method: MethodDescription,
    dataset: LoadedDataset,
    stream: ClassStream,
    result: StreamResult,
    protocol: str = STRICT,
    isolation: Isolation | None = None,
) -> RunRecord:
    """Make the record of a finished run.

    Args:
        isolation: Isolation of a sealed method's process; None for a method that was not sealed.
    """
    parameters, default = method.parameters, method.defaults
    changed = {
        name: value
        for name, value in parameters.items()
        if name != "seed" and value != default[name]
    }
    document = {
        "schema": SCHEMA,
        "method": method.name,
        "dataset": dataset.name,
        "seed": stream.split.seed,
        "node_seed": stream.split.node_seed,
        "stream_version": STREAM_VERSION,
        "protocol": protocol,
        "arrival": stream.arrival,
        "setting": asdict(stream.split.setting),
        "changed_parameters": changed,
        "parameters": parameters,
        "dataset_options": dict(dataset.options),
        "default_setting": asdict(dataset.setting),
        "hashes": {"dataset": dataset.content_hash, "split": stream.split.content_hash},
        "sealed": isolation is not None,
        "isolation": None if isolation is None else asdict(isolation),
        "source": code_of(method),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
        },
        "notes": list(dataset.notes),
        "sessions": [_session(session) for session in result.sessions],
        "summary": result.summary,
    }
    return RunRecord({"run": run_name(document), **document}, _class_table(result))


def _session(result: SessionResult) -> dict[str, Any]:
    detailed = ("recall", "queries_by_class", "outcomes")
    return {name: value for name, value in vars(result).items() if name not in detailed}


def _class_table(result: StreamResult) -> Any:
    rows = [
        {
            "session": session.index,
            "class": name,
            "queries": session.queries_by_class[name],
            "recall": recall,
        }
        for session in result.sessions
        for name, recall in session.recall.items()
    ]
    return pa.Table.from_pylist(rows, schema=CLASSES)


def _without_measured(numbers: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in numbers.items() if name not in MEASURED}


@cache
def this_code() -> dict[str, str]:
    """Return the version of this package, and a hash of its files.

    The hash is needed because two commits may have the same version.

    >>> sorted(this_code())
    ['hash', 'version']
    """
    package = Path(__file__).parents[2]
    files = sorted(package.rglob("*.py"))
    hashes = {path.relative_to(package).as_posix(): file_hash(path) for path in files}
    return {"version": version("nodegraft"), "hash": content_hash(hashes)}


def code_of(method: MethodDescription) -> dict[str, str]:
    """Return :func:`this_code`; for a method of another package, add the hash of its file."""
    return this_code() | ({"method": method.file_hash} if method.file_hash else {})
