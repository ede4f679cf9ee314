"""Many jobs from one TOML file: datasets x methods x settings x protocols x seeds."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from nodegraft.base.errors import ParameterError
from nodegraft.benchmark.job import Job

KNOWN = (
    "title",
    "tables",
    "figures",
    "seeds",
    "datasets",
    "protocols",
    "methods",
    "settings",
    "arrival",
    "rehearse",
)
# Crossed with each method; a method may have its own list of any of them, and of datasets.
AXES: Mapping[str, list[Any]] = {"settings": [{}], "seeds": [0], "protocols": ["strict"]}
OF_A_METHOD = ("method", "name", "set", "datasets", *AXES)


@dataclass(frozen=True)
class Entry:
    """A job and the name its results stand under in a table."""

    name: str
    job: Job


@dataclass(frozen=True)
class Suite:
    """What is run, and which tables and figures are made of it."""

    title: str
    tables: tuple[str, ...]
    figures: tuple[str, ...]
    entries: tuple[Entry, ...]

    @classmethod
    def read(cls, path: str | Path) -> "Suite":
        """From a TOML file; see ``experiments/`` for examples."""
        try:
            document = tomllib.loads(Path(path).read_text())
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise ParameterError(f"{path} can't be read as a suite: {error}") from error
        return cls.from_document(document)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Suite":
        """From what the TOML file says."""
        for name in document:
            if name not in KNOWN:
                raise ParameterError(f"A suite has no {name!r}; it has {', '.join(KNOWN)}.")
        for name in ("datasets", "methods"):
            if not document.get(name):
                raise ParameterError(f"A suite needs {name!r}.")
        for method in document["methods"]:
            for name in method.keys() - set(OF_A_METHOD):
                raise ParameterError(
                    f"{method['method']} has {name!r} in the suite; a method there has "
                    f"{', '.join(OF_A_METHOD)}."
                )
        entries = tuple(
            Entry(
                _name(method, setting),
                Job(
                    **_dataset(dataset),
                    method=method["method"],
                    parameters=method.get("set", {}),
                    seed=seed,
                    protocol=protocol,
                    arrival=document.get("arrival", "with-class"),
                    rehearse=document.get("rehearse", False),
                    **setting,
                ),
            )
            for dataset, method in product(document["datasets"], document["methods"])
            if dataset in method.get("datasets", document["datasets"])
            for setting, seed, protocol in product(
                *({**AXES, **document, **method}[axis] for axis in AXES)
            )
        )
        return cls(
            document.get("title", ""),
            tuple(document.get("tables", [])),
            tuple(document.get("figures", [])),
            entries,
        )

    def missing(self, records: Sequence[Mapping[str, Any]]) -> tuple[Entry, ...]:
        """Those that no record tells about."""
        return tuple(entry for entry, found in self.recorded(records) if found is None)

    def recorded(
        self, records: Sequence[Mapping[str, Any]]
    ) -> list[tuple[Entry, Mapping[str, Any] | None]]:
        """Each entry with its record, or None where there is none yet."""
        by_job: dict[tuple[str, str, int], list[Mapping[str, Any]]] = {}
        for record in records:
            key = record["dataset"], record["method"], record["seed"]
            by_job.setdefault(key, []).append(record)
        pairs = []
        for entry in self.entries:
            job = entry.job
            candidates = by_job.get((job.dataset, job.method, job.seed), [])
            found = (record for record in candidates if job.is_recorded_by(record))
            pairs.append((entry, next(found, None)))
        return pairs


def _name(method: Mapping[str, Any], setting: Mapping[str, int]) -> str:
    name = str(method.get("name", method["method"]))
    return " ".join([name, *(f"{size}-{of.removesuffix('s')}" for of, size in setting.items())])


def _dataset(dataset: str | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(dataset, str):
        return {"dataset": dataset}
    return {"dataset": dataset["dataset"], "dataset_options": dataset.get("set", {})}
