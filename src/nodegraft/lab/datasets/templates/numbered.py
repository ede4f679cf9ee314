"""Datasets of public benchmarks: nodes have numbers instead of keys, classes have numbers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pyarrow import csv

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.labels import NodeLabels
from nodegraft.lab.datasets.templates.dataset import Dataset, LoadedDataset, setting_for
from nodegraft.lab.datasets.templates.readers import read_raw

OGB_FILES = ("raw/edge.csv.gz", "raw/node-feat.csv.gz", "raw/node-label.csv.gz")
"""Files that every dataset of OGB has."""

SMALLEST_CLASS = 20
"""Classes with fewer nodes are left out: five labels and a test would not fit."""


class OgbDataset(Dataset):
    """Node classification dataset of the Open Graph Benchmark, from its archive of CSV files.

    OGB's own package is not needed. The published split is not used, because classes arrive in
    sessions here.
    """

    citation: ClassVar[str] = (
        "Hu et al. 2020, Open graph benchmark: datasets for machine learning on graphs, "
        "https://arxiv.org/abs/2005.00687"
    )
    mapping: ClassVar[str]
    """File with the number and the name of each class."""

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Parse the CSV files; directions of edges are ignored, as by most methods of OGB."""
        ends = _columns(files["raw/edge.csv.gz"])
        values = _columns(files["raw/node-feat.csv.gz"])
        features = np.stack([column.astype(np.float32) for column in values], axis=1)
        (numbers,) = _columns(files["raw/node-label.csv.gz"])
        if len(ends) != 2 or len(numbers) != len(features):
            raise DataError(
                f"{self.name}: {len(ends)} columns of edges (2 expected), {len(features)} rows of "
                f"features and {len(numbers)} labels (as many expected): unpack the archive again."
            )
        table = csv.read_csv(files[self.mapping])
        names = dict(zip(table[0].to_pylist(), table[1].to_pylist(), strict=True))
        return numbered_dataset(self.name, features, ends, numbers, names.get)


class GraphLand(Dataset):
    """Classification dataset of GraphLand; PyG reads it with pandas and PyYAML."""

    citation: ClassVar[str] = (
        "Bazhenov et al. 2024, GraphLand: evaluating graph machine learning models on diverse "
        "industrial data, https://arxiv.org/abs/2409.14500"
    )
    required_files: ClassVar[tuple[str, ...]] = (
        "info.yaml",
        "features.csv",
        "targets.csv",
        "edgelist.csv",
        "split_masks_RL.csv",
    )

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Parse the raw files; PyG encodes categories and scales numbers by their quantiles."""
        from torch_geometric.datasets import GraphLandDataset

        def make(root: str) -> Any:
            return GraphLandDataset(root, self.name, split="RL", to_undirected=False)

        try:
            data = read_raw(files.values(), f"{self.name}/raw/{self.name}", make)
        except ModuleNotFoundError as error:
            raise DataError(
                f"PyG reads {self.name} with pandas and PyYAML, and {error.name} is not installed: "
                "pip install pandas pyyaml"
            ) from error
        return numbered_dataset(
            self.name, data.x.numpy(), data.edge_index.numpy(), data.y.numpy(), notes=(SCALED_NOTE,)
        )


SCALED_NOTE = (
    "Missing numbers are filled and numbers scaled by their quantiles over the nodes of all "
    "classes, later ones included."
)


def graphland_fetch(name: str) -> str:
    """Return the command that downloads a dataset of GraphLand into the current folder."""
    return (
        'python -c "from torch_geometric.datasets import GraphLandDataset as G; '
        f"G('.', '{name}', 'RL')\""
    )


def numbered_dataset(
    name: str,
    features: NDArray[np.float32],
    ends: Sequence[ArrayLike],
    numbers: NDArray[Any],
    class_name: Callable[[int], str | None] = lambda number: None,
    notes: tuple[str, ...] = (),
) -> LoadedDataset:
    """Return a dataset whose nodes have row numbers as keys, with a setting for all its classes.

    >>> ends = (np.array([0, 1]), np.array([1, 2]))
    >>> classes = np.repeat([0.0, 1.0, 2.0, 3.0, np.nan], 20)
    >>> loaded = numbered_dataset("x", np.eye(100, 2), ends, classes, {0: "cat"}.get)
    >>> loaded.graph.num_edges, loaded.labels.classes, loaded.setting.classes
    (2, ('cat', 'class-01', 'class-02', 'class-03'), 4)

    Args:
        name: Name of the dataset.
        features: A row for each node.
        ends: Row numbers of the sources and of the targets of all edges.
        numbers: Class number of each node; NaN for nodes without a class.
        class_name: Returns the name of a class number, or None to name it by its number. Where two
            classes have one name, both are named by their numbers.
        notes: Remarks for readers of tables.
    """
    sizes = np.unique_counts(numbers[~np.isnan(numbers)])
    large = sizes.values[sizes.counts >= SMALLEST_CLASS].astype(np.int64).tolist()
    width = max(2, len(str(max(large, default=0))))
    given = [class_name(number) for number in large]
    members = {
        title if title and given.count(title) == 1 else f"class-{number:0{width}d}": np.flatnonzero(
            numbers == number
        )
        for number, title in zip(large, given, strict=True)
    }
    if len(large) < len(sizes.values):
        left_out = len(sizes.values) - len(large)
        notes = (*notes, f"{left_out} classes with under {SMALLEST_CLASS} nodes are left out.")
    source, target = (np.asarray(side, dtype=np.int64) for side in ends)
    count = len(features)
    graph = Graph.from_parts(
        NodeKeys(np.arange(count)), features, Adjacency.from_edges(source, target, count)
    )
    labels = NodeLabels({title: members[title] for title in sorted(members)})
    return LoadedDataset(name, graph, labels, setting_for(len(members)), notes=notes)


def _columns(path: Path) -> list[NDArray[Any]]:
    """Return the columns of a CSV file without a heading; ``.gz`` files are unpacked."""
    options = csv.ReadOptions(autogenerate_column_names=True)
    return [column.to_numpy() for column in csv.read_csv(path, read_options=options).columns]
