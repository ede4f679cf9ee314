"""Suites of jobs from TOML files: datasets x methods x settings x protocols x seeds."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.build import build
from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveInt
from nodegraft.base.parameters.validate import validate
from nodegraft.base.problems import Problems
from nodegraft.lab.benchmark.job import Job, Protocol
from nodegraft.streams.arrival import Arrival

Record = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class SuiteDataset:
    """Dataset of a suite, with its options."""

    described_as: ClassVar[str] = "A dataset of a suite"

    dataset: str
    """Name of the dataset."""

    set: Mapping[str, Any] = field(default_factory=dict)
    """Options of the dataset that differ from their defaults."""

    seeds: Sequence[NonNegativeInt] | None = field(default=None, compare=False)
    """Seeds that replace the suite's seeds, for methods that do not list their own."""

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True, kw_only=True)
class SuiteMethod:
    """Method of a suite; for fields that are not set, the values of the suite are used."""

    described_as: ClassVar[str] = "A method of a suite"

    method: str
    """Name of the method."""

    name: str | None = None
    """Name of the method in tables; None uses ``method``."""

    set: Mapping[str, Any] = field(default_factory=dict)
    """Hyper-parameters that differ from their defaults."""

    tuned: str | None = None
    """File of ``nodegraft lab tune`` with hyper-parameters, which ``set`` overrides."""

    datasets: Sequence[str | Mapping[str, Any]] | None = None
    """Datasets of the suite on which the method runs; None uses all."""

    seeds: Sequence[NonNegativeInt] | None = None
    """Seeds that replace the seeds of the suite and its datasets."""

    protocols: Sequence[Protocol] | None = None
    """Protocols that replace the suite's protocols."""

    settings: Sequence[Mapping[str, PositiveInt]] | None = None
    """Settings that replace the suite's settings."""

    arrival: Arrival | None = None
    """Arrival that replaces the suite's arrival."""

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True, kw_only=True)
class SuiteFile:
    """Content of the TOML file of a suite; see ``experiments/`` for examples."""

    described_as: ClassVar[str] = "A suite"

    datasets: Sequence[str | Mapping[str, Any]]
    """Names of datasets, or tables with the fields of :class:`SuiteDataset`."""

    methods: Sequence[Mapping[str, Any]]
    """Tables with the fields of :class:`SuiteMethod`."""

    arrival: Arrival
    """Which nodes are visible in each session; required, so that old suites do not change."""

    title: str = ""
    """Title of the suite in a report."""

    note: str = ""
    """Remark for readers of the numbers; a report shows it above them."""

    tables: Sequence[str] = ()
    """Kinds of tables to make from the records."""

    figures: Sequence[str] = ()
    """Kinds of figures to draw from the records."""

    seeds: Sequence[NonNegativeInt] = (0,)
    """Seeds for methods and datasets that do not list their own."""

    protocols: Sequence[Protocol] = ("strict",)
    """Protocols by which runs are evaluated."""

    settings: Sequence[Mapping[str, PositiveInt]] = ({},)
    """Values of ``ways``, ``shots`` and ``least_shots`` that replace those of the dataset."""

    rehearse: bool = False
    """Whether validation classes instead of novel classes are the new classes."""

    sealed: bool = False
    """Whether each method runs in a separate process without labels, files and network."""

    def __post_init__(self) -> None:
        validate(self)
        for name in ("datasets", "methods", "seeds", "protocols", "settings"):
            if not getattr(self, name):
                raise ParameterError(f"A suite needs {name!r}.")


@dataclass(frozen=True)
class SuiteEntry:
    """Job of a suite, and the name of its row in tables."""

    name: str
    """Name of the row in tables."""

    job: Job
    """Job whose results the row shows."""


@dataclass(frozen=True)
class Suite:
    """Jobs to run, and the tables and figures to make from their records."""

    title: str
    """Title of the suite in a report."""

    tables: tuple[str, ...]
    """Kinds of tables to make."""

    figures: tuple[str, ...]
    """Kinds of figures to draw."""

    entries: tuple[SuiteEntry, ...]
    """All jobs, with the names of their rows in tables."""

    note: str = ""
    """Remark for readers of the numbers."""

    @classmethod
    def read(cls, path: str | Path) -> "Suite":
        """Read a suite from a TOML file.

        Args:
            path: TOML file of the suite; see ``experiments/`` for examples.
        """
        try:
            document = tomllib.loads(Path(path).read_text())
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ParameterError(f"{path} can't be read as a suite: {error}") from error
        try:
            return cls.from_document(document, Path(path).parent)
        except ParameterError as error:
            raise ParameterError(f"{path}: {error}") from error

    @classmethod
    def from_document(cls, document: Mapping[str, Any], folder: Path = Path()) -> "Suite":
        """Build a suite from the parsed content of a TOML file.

        Args:
            folder: Folder of the file, relative to which ``tuned`` files are read.
        """
        file = build(SuiteFile, document)
        methods, datasets, tuned = list[SuiteMethod](), list[SuiteDataset](), dict[str, Any]()
        problems = Problems()
        for table in file.methods:
            with problems.collect():
                methods.append(build(SuiteMethod, table))
        for own in file.datasets:
            with problems.collect():
                datasets.append(_dataset(own))
        for method in methods:
            with problems.collect():
                if method.tuned:
                    tuned[method.tuned] = _tuned(folder, method.tuned)
        problems.raise_all()
        for method in methods:
            with problems.collect():
                _check_own_datasets(method, datasets)
        problems.raise_all()
        entries = list[SuiteEntry]()
        for dataset, method in product(datasets, methods):
            if method.datasets is not None and dataset not in [
                _dataset(entry) for entry in method.datasets
            ]:
                continue
            best = tuned.get(method.tuned or "", {}).get(dataset.dataset, {})
            for setting, seed, protocol in product(
                _own(method.settings, file.settings),
                _own(method.seeds, _own(dataset.seeds, file.seeds)),
                _own(method.protocols, file.protocols),
            ):
                with problems.collect():
                    job = Job(
                        dataset=dataset.dataset,
                        dataset_options=dataset.set,
                        method=method.method,
                        parameters={**best, **method.set},
                        seed=seed,
                        protocol=protocol,
                        arrival=method.arrival or file.arrival,
                        rehearse=file.rehearse,
                        sealed=file.sealed,
                        **_ways_and_shots(setting),
                    )
                    entries.append(SuiteEntry(_name(method, setting), job))
        problems.raise_all()
        pairs = set[tuple[str, str]]()
        for entry in entries:
            if (entry.name, entry.job.key) in pairs:
                raise ParameterError(
                    f"{entry.job.title} comes twice: name each dataset, method and seed once."
                )
            pairs.add((entry.name, entry.job.key))
        return cls(file.title, tuple(file.tables), tuple(file.figures), tuple(entries), file.note)

    def missing(self, documents: Sequence[Record]) -> tuple[SuiteEntry, ...]:
        """Return the entries of the suite that have no record."""
        return tuple(entry for entry, record in self.with_records(documents) if record is None)

    def with_records(self, documents: Sequence[Record]) -> list[tuple[SuiteEntry, Record | None]]:
        """Return each entry with its record, or with None if it has no record yet."""
        by_job: dict[tuple[str, str, int], list[Record]] = {}
        for document in documents:
            key = document["dataset"], document["method"], document["seed"]
            by_job.setdefault(key, []).append(document)
        pairs = []
        for entry in self.entries:
            job = entry.job
            candidates = by_job.get((job.dataset, job.method, job.seed), [])
            matches = (document for document in candidates if job.matches(document))
            pairs.append((entry, next(matches, None)))
        return pairs


def _own(own: Sequence[Any] | None, common: Sequence[Any]) -> Sequence[Any]:
    return common if own is None else own


def _check_own_datasets(method: SuiteMethod, datasets: Sequence[SuiteDataset]) -> None:
    for own in method.datasets or ():
        if _dataset(own) not in datasets:
            raise ParameterError(
                f"{method.method} is to run on {_dataset(own).dataset!r}, which is not among the "
                "suite's datasets with these options."
            )
        if _dataset(own).seeds is not None:
            raise ParameterError(
                f"{method.method} is to run on some seeds of {_dataset(own).dataset!r}: give seeds "
                "to the method, or to the suite's dataset."
            )


def _tuned(folder: Path, name: str) -> Mapping[str, Mapping[str, Any]]:
    """Read the best hyper-parameters for each dataset from a file of ``nodegraft lab tune``."""
    try:
        datasets = json.loads((folder / name).read_text())["datasets"]
        return {dataset: trial["best"]["parameters"] for dataset, trial in datasets.items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ParameterError(
            f"{folder / name} holds no search: make it with nodegraft lab tune ({error!r})."
        ) from error


def _dataset(entry: str | Mapping[str, Any]) -> SuiteDataset:
    return SuiteDataset(dataset=entry) if isinstance(entry, str) else build(SuiteDataset, entry)


def _name(method: SuiteMethod, setting: Mapping[str, int]) -> str:
    name = method.name or method.method
    sizes = dict(setting)
    least = sizes.pop("least_shots", None)
    words = [f"{size}-{of.removesuffix('s')}" for of, size in sizes.items()]
    return " ".join([name, *words, *([] if least is None else [f"from {least}"])])


def _ways_and_shots(setting: Mapping[str, int]) -> dict[str, Any]:
    odd = setting.keys() - {"ways", "shots", "least_shots"}
    if odd:
        raise ParameterError(
            f"A setting has ways, shots and least_shots, not {', '.join(sorted(odd))}."
        )
    return dict(setting)
