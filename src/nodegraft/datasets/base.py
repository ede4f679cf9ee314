"""What a dataset is: raw files in, a graph with labels and a default setting out."""

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
from nodegraft.base.parameters import build
from nodegraft.base.registry import Registry
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import Labelled
from nodegraft.graph.split import Groups, Setting
from nodegraft.graph.storage import load_graph, save_graph

DATA_VARIABLE = "NODEGRAFT_DATA"
CACHE_VARIABLE = "NODEGRAFT_CACHE"


@dataclass(frozen=True)
class LoadedDataset:
    """A graph, who belongs to which class, and how it is meant to be split.

    ``groups`` numbers near-duplicates that must stay on one side of a split. ``notes`` are what
    a reader of a table must know ("20 of 77 classes"), ``options`` what the dataset was asked for.
    """

    name: str
    graph: Graph
    labels: Labelled
    setting: Setting
    groups: Groups | None = None
    notes: tuple[str, ...] = field(default=())
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def content_hash(self) -> str:
        """Depends on graph, labels and groups."""
        groups = [] if self.groups is None else self.groups.tolist()
        return content_hash(self.graph.content_hash, self.labels.content_hash, groups)


@dataclass(kw_only=True)
class Dataset(ABC):
    """One file in ``datasets/`` = one dataset = one name; subclasses are keyword-only dataclasses.

    Fields are options of the dataset. An author gives ``name``, ``summary``, ``folders`` and
    ``wanted``, and writes :meth:`parse`.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    citation: ClassVar[str] = ""
    folders: ClassVar[tuple[str, ...]] = ()
    wanted: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Read the raw files, given by their names; ``optional`` ones may be absent."""

    def load(
        self, root: str | Path | None = None, cache: str | Path | None = None
    ) -> LoadedDataset:
        """The dataset, parsed once and then read from the cache.

        ``root`` is the folder that holds the data folders (else the variable NODEGRAFT_DATA,
        else ``./data``); ``cache`` a folder for parsed graphs (else NODEGRAFT_CACHE, else the
        user's cache folder).
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
        """Where the raw files are; the error for a missing one says where it was looked for."""
        top = Path(root or os.environ.get(DATA_VARIABLE) or "data")
        looked = [top / folder for folder in self.folders] or [top]
        for folder in looked:
            if all((folder / name).is_file() for name in self.wanted):
                names = (*self.wanted, *self.optional)
                return {name: folder / name for name in names if (folder / name).is_file()}
        raise MissingFileError(self.name, self.wanted, looked)

    def _inputs_hash(self, files: dict[str, Path]) -> str:
        # The code is an input like the raw files: a parser that changed must not be overheard.
        code = {*Path(__file__).parents[1].glob("graph/*.py"), *Path(__file__).parent.glob("*.py")}
        code.add(Path(inspect.getfile(type(self))))
        raw = {name: file_hash(path) for name, path in sorted(files.items())}
        return content_hash(asdict(self), raw, [file_hash(path) for path in sorted(code)])


REGISTRY: Registry[Dataset] = Registry("dataset", "nodegraft.datasets", Dataset)  # type: ignore[type-abstract]


def load_dataset(name: str, root: str | Path | None = None, **options: Any) -> LoadedDataset:
    """A dataset by name, with its options, from the data folder ``root``."""
    return build(REGISTRY.get(name), options).load(root)


def _cache_folder(cache: str | Path | None) -> Path:
    chosen = cache or os.environ.get(CACHE_VARIABLE)
    return Path(chosen) if chosen else Path.home() / ".cache" / "nodegraft"


def _write(loaded: LoadedDataset, place: Path) -> None:
    document = {
        "name": loaded.name,
        "classes": {name: rows.tolist() for name, rows in loaded.labels.items()},
        "setting": asdict(loaded.setting),
        "groups": None if loaded.groups is None else loaded.groups.tolist(),
        "notes": list(loaded.notes),
    }
    save_graph(loaded.graph, place, document)


def _read(place: Path) -> LoadedDataset:
    graph, document = load_graph(place)
    groups: NDArray[np.int64] | None = None
    if document["groups"] is not None:
        groups = np.array(document["groups"], dtype=np.int64)
    return LoadedDataset(
        name=document["name"],
        graph=graph,
        labels=Labelled(_in_order(document["classes"])),
        setting=Setting(**document["setting"]),
        groups=groups,
        notes=tuple(document["notes"]),
    )


def _in_order(classes: dict[str, Sequence[int]]) -> dict[str, Sequence[int]]:
    return {name: classes[name] for name in sorted(classes)}
