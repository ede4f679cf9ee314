"""Base class of datasets, which parse raw files to a graph, labels and a default setting."""

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
    """Parsed dataset: a graph, the classes of its nodes, and a default setting of the split."""

    name: str
    """Name of the dataset."""

    graph: Graph
    """Graph with nodes, features and edges."""

    labels: NodeLabels
    """Class of each labelled node."""

    setting: Setting
    """Default number of classes of each role (base, novel …), which a run can override."""

    groups: Groups | None = None
    """Group number of each row. Near-duplicates share a group, which a split never divides."""

    notes: tuple[str, ...] = field(default=())
    """Remarks for readers of tables, such as "20 of 77 classes"."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """Options with which the dataset was loaded."""

    @property
    def content_hash(self) -> str:
        """Hash of graph, labels and groups."""
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
        """Draw a stream of sessions in which new classes arrive and nodes are anonymous.

        Args:
            seed: Seed that selects the roles of classes and the order of rows.
            arrival: Arrival of nodes: which nodes are visible in each session, as in
                :class:`nodegraft.ClassStream`.
            setting: Number of classes of each role; None uses the dataset's setting.
            many_shot: Whether 60 % of the nodes of new classes are labelled instead of a few.
            node_seed: Seed that selects the labelled nodes; None uses ``seed``.
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
    """Base class of datasets. Each dataset is a keyword-only dataclass in a file of ``datasets/``.

    Fields are options of the dataset, checked against their annotations. A subclass sets ``name``,
    ``summary``, ``folders`` and ``required_files``, and implements :meth:`parse`.
    """

    name: ClassVar[str]
    """Name of the dataset on the command line and in records."""
    summary: ClassVar[str]
    """Description of the dataset in one line."""
    citation: ClassVar[str] = ""
    """Publication or site from which the dataset comes."""
    licence: ClassVar[str] = ""
    """Licence of the raw files, as their publisher states it; empty if it is not known."""
    site: ClassVar[str] = ""
    """Web address of the publisher; needed if ``citation`` has none."""
    fetch: ClassVar[str] = ""
    """How to get the raw files, in the data folder; shown if they are missing."""
    folders: ClassVar[tuple[str, ...]] = ()
    """Folders to search, below the data folder; the first with all required files is used."""
    required_files: ClassVar[tuple[str, ...]] = ()
    """Names of the required raw files."""
    optional_files: ClassVar[tuple[str, ...]] = ()
    """Names of raw files that are read if they exist."""

    def __post_init__(self) -> None:
        validate(self)

    @abstractmethod
    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Parse the raw files.

        Args:
            files: File name -> path of the raw file; optional files may be absent.
        """

    def load(
        self, root: str | Path | None = None, cache: str | Path | None = None
    ) -> LoadedDataset:
        """Load the dataset from the cache, or parse the raw files and write the cache.

        Args:
            root: Folder that holds the data folders; by default the environment variable
                NODEGRAFT_DATA, or ``./data`` if that is not set.
            cache: Cache folder of parsed graphs; by default the environment variable
                NODEGRAFT_CACHE, or the user's cache folder if that is not set.
        """
        files = self.locate(root)
        place = _cache_folder(cache) / f"{self.name}-{self._inputs_hash(files)}"
        # If the cache is damaged, read-only or written by another process, loading is slower, but
        # its result does not change.
        if place.exists():
            with suppress(CheckpointError):
                return replace(_read(place), options=asdict(self))
        loaded = replace(self.parse(files), options=asdict(self))
        with suppress(CheckpointError):
            _write(loaded, place)
        return loaded

    def locate(self, root: str | Path | None = None) -> dict[str, Path]:
        """Return the paths of the raw files by name; an error lists the searched folders."""
        top = _data_folder(root)
        looked = [top / folder for folder in self.folders] or [top]
        for folder in looked:
            if all((folder / name).is_file() for name in self.required_files):
                names = (*self.required_files, *self.optional_files)
                return {name: folder / name for name in names if (folder / name).is_file()}
        raise MissingFileError(self.name, self.required_files, looked, self.fetch)

    def _inputs_hash(self, files: dict[str, Path]) -> str:
        # Hash the parser's code, too, so that editing it invalidates the cache.
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
    """Return the sorted names of all datasets."""
    return REGISTRY.names()


def load_dataset(name: str, root: str | Path | None = None, **options: Any) -> LoadedDataset:
    """Load a dataset by name.

    Args:
        name: Name of the dataset; ``nodegraft lab datasets`` lists all names.
        root: Folder that holds the data folders; by default the environment variable
            NODEGRAFT_DATA, or ``./data`` if that is not set.
        options: Options of the dataset: fields of its class.
    """
    return build(REGISTRY.get(name), options).load(root)


def label_folders(root: str | Path | None = None) -> list[Path]:
    """Return the folders that contain labels: the data folder and the cache folder."""
    return [_data_folder(root), _cache_folder(None)]


def _data_folder(root: str | Path | None) -> Path:
    return Path(root or os.environ.get(DATA_VARIABLE) or "data")


def _cache_folder(cache: str | Path | None) -> Path:
    folder = cache or os.environ.get(CACHE_VARIABLE)
    return Path(folder) if folder else Path.home() / ".cache" / "nodegraft"


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


def setting_for(classes: int) -> Setting:
    """Return a setting with 2/5 novel, 1/5 pseudo-novel and 1/10 validation classes.

    >>> print(setting_for(20))
    6/4/2/8 classes (base/pseudo-novel/validation/novel), 2-way 5-shot
    """
    novel = max(1, 2 * classes // 5)
    pseudo_novel, validation = max(1, round(classes / 5)), max(1, classes // 10)
    return Setting(
        base=classes - novel - pseudo_novel - validation,
        pseudo_novel=pseudo_novel,
        validation=validation,
        novel=novel,
        ways=min(2, novel),
        shots=5,
    )


HELD_OUT_NOTE = (
    "Held out: nothing of a method may be chosen by what it reaches on the test streams of this "
    "graph. Rehearse (--rehearse) until the method is final."
)
