"""Base class of datasets: raw files are read into a graph with labels and a default setting."""

import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import CheckpointError, MissingFileError
from nodegraft.base.hashing import content_hash, file_hash
from nodegraft.base.parameters.build import build
from nodegraft.base.parameters.validate import validate
from nodegraft.base.registry import Registry
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.arrival import Arrival
from nodegraft.streams.setting import Setting
from nodegraft.streams.split import Groups
from nodegraft.streams.stream import ClassStream
from nodegraft.tables.storage import load_graph_and_document, save_graph

DATA_VARIABLE = "NODEGRAFT_DATA"
CACHE_VARIABLE = "NODEGRAFT_CACHE"


@dataclass(frozen=True)
class LoadedDataset:
    """A graph, who belongs to which class, and how it is meant to be split."""

    name: str
    """What the dataset is called."""

    graph: Graph
    """Nodes, features and edges."""

    labels: NodeLabels
    """The class of each node that has one."""

    setting: Setting
    """How many classes of each role, unless a run says otherwise."""

    groups: Groups | None = None
    """A number for each row; near-duplicates share one, and stay on one side of a split."""

    notes: tuple[str, ...] = field(default=())
    """What a reader of a table must know ("20 of 77 classes")."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """What the dataset was asked for."""

    @property
    def content_hash(self) -> str:
        """Depends on graph, labels and groups."""
        groups = [] if self.groups is None else self.groups.tolist()
        return content_hash(self.graph.content_hash, self.labels.content_hash, groups)

    def stream(
        self,
        *,
        seed: int = 0,
        arrival: Arrival = "growing",
        setting: Setting | None = None,
        many_shot: bool = False,
        node_seed: int | None = None,
    ) -> ClassStream:
        """Its classes, arriving session by session, with nodes that are anonymous.

        Args:
            seed: Draws which class has which role, and the order of rows.
            arrival: Which nodes exist in a session, as in :class:`nodegraft.ClassStream`.
            setting: How many classes of each role; None takes the dataset's own.
            many_shot: Whether new classes are taught by 60 % of their nodes instead of a few.
            node_seed: Draws which nodes teach; None takes ``seed``.
        """
        return ClassStream.draw(
            self.graph,
            self.labels,
            setting or self.setting,
            seed=seed,
            arrival=arrival,
            groups=self.groups,
            many_shot=many_shot,
            node_seed=node_seed,
        )

    def __repr__(self) -> str:
        return f"LoadedDataset({self.name!r}, {self.graph!r}, {self.labels!r})"


@dataclass(kw_only=True)
class Dataset(ABC):
    """One file in ``datasets/`` = one dataset = one name; subclasses are keyword-only dataclasses.

    Fields are options of the dataset, checked against their annotations. An author gives ``name``,
    ``summary``, ``folders`` and ``required_files``, and writes :meth:`parse`.
    """

    name: ClassVar[str]
    """What the dataset is called on the command line and in records."""
    summary: ClassVar[str]
    """What it is, in one line."""
    citation: ClassVar[str] = ""
    """Where it is from."""
    folders: ClassVar[tuple[str, ...]] = ()
    """Where its files may be, below the data folder; the first that has them is taken."""
    required_files: ClassVar[tuple[str, ...]] = ()
    """The names of the raw files it needs."""
    optional_files: ClassVar[tuple[str, ...]] = ()
    """The names of files it reads where they are there."""

    def __post_init__(self) -> None:
        validate(self)

    @abstractmethod
    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Read the raw files.

        Args:
            files: Name of a file -> where it is; optional ones may be absent.
        """

    def load(
        self, root: str | Path | None = None, cache: str | Path | None = None
    ) -> LoadedDataset:
        """The dataset, parsed once and then read from the cache.

        Args:
            root: The folder that holds the data folders; else the variable NODEGRAFT_DATA, else
                ``./data``.
            cache: A folder for parsed graphs; else the variable NODEGRAFT_CACHE, else the user's
                cache folder.
        """
        files = self.locate(root)
        place = _cache_folder(cache) / f"{self.name}-{self._inputs_hash(files)}"
        # A damaged, read-only or racing cache costs time, never the result.
        if place.exists():
            with suppress(CheckpointError):
                return replace(_read(place), options=asdict(self))
        loaded = replace(self.parse(files), options=asdict(self))
        with suppress(CheckpointError):
            _write(loaded, place)
        return loaded

    def locate(self, root: str | Path | None = None) -> dict[str, Path]:
        """Where the raw files are; the error for a missing one says where it was looked for.

        Args:
            root: The folder that holds the data folders, as in :meth:`load`.
        """
        top = _data_folder(root)
        looked = [top / folder for folder in self.folders] or [top]
        for folder in looked:
            if all((folder / name).is_file() for name in self.required_files):
                names = (*self.required_files, *self.optional_files)
                return {name: folder / name for name in names if (folder / name).is_file()}
        raise MissingFileError(self.name, self.required_files, looked)

    def _inputs_hash(self, files: dict[str, Path]) -> str:
        # The parser's code is hashed, too, so that editing it invalidates the cache.
        package = Path(__file__).parents[3]
        code = {
            path
            for room in ("graph", "tables", "lab/datasets")
            for path in (package / room).rglob("*.py")
        }
        code.add(Path(inspect.getfile(type(self))))
        raw = {name: file_hash(path) for name, path in sorted(files.items())}
        return content_hash(asdict(self), raw, [file_hash(path) for path in sorted(code)])


REGISTRY: Registry[Dataset] = Registry(
    "dataset",
    "nodegraft.lab.datasets",
    Dataset,  # type: ignore[type-abstract]
    group="nodegraft.datasets",
)


def list_datasets() -> list[str]:
    """The names of all datasets, sorted."""
    return REGISTRY.names()


def load_dataset(name: str, root: str | Path | None = None, **options: Any) -> LoadedDataset:
    """A dataset by name.

    Args:
        name: As ``nodegraft lab datasets`` shows it.
        root: The folder that holds the data folders; else the variable NODEGRAFT_DATA, else
            ``./data``.
        options: Fields of the dataset.
    """
    return build(REGISTRY.get(name), options).load(root)


def label_folders(root: str | Path | None = None) -> list[Path]:
    """Return the folders with labels: raw files, and the cache of parsed graphs.

    Args:
        root: The folder that holds the data folders, as in :func:`load_dataset`.
    """
    return [_data_folder(root), _cache_folder(None)]


def _data_folder(root: str | Path | None) -> Path:
    return Path(root or os.environ.get(DATA_VARIABLE) or "data")


def _cache_folder(cache: str | Path | None) -> Path:
    chosen = cache or os.environ.get(CACHE_VARIABLE)
    return Path(chosen) if chosen else Path.home() / ".cache" / "nodegraft"


def _write(loaded: LoadedDataset, place: Path) -> None:
    document = {
        "name": loaded.name,
        "classes": loaded.labels.to_lists(),
        "setting": asdict(loaded.setting),
        "groups": None if loaded.groups is None else loaded.groups.tolist(),
        "notes": list(loaded.notes),
    }
    save_graph(loaded.graph, place, document)


def _read(place: Path) -> LoadedDataset:
    graph, document = load_graph_and_document(place)
    groups: NDArray[np.int64] | None = None
    if document["groups"] is not None:
        groups = np.array(document["groups"], dtype=np.int64)
    return LoadedDataset(
        name=document["name"],
        graph=graph,
        labels=NodeLabels(_in_order(document["classes"])),
        setting=Setting(**document["setting"]),
        groups=groups,
        notes=tuple(document["notes"]),
    )


def _in_order(classes: dict[str, Sequence[int]]) -> dict[str, Sequence[int]]:
    return {name: classes[name] for name in sorted(classes)}


HELD_OUT_NOTE = (
    "Held out: nothing of a method may be chosen by what it reaches on the test streams of this "
    "graph. Rehearse (--rehearse) until the method is final."
)
