"""Base class of Amazon-Clothing and DBLP: a network file and two MATLAB files of nodes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat
from scipy.sparse import csr_array, vstack

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.matrix import normalise_rows
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.labels import NodeLabels
from nodegraft.lab.datasets.templates.dataset import Dataset, LoadedDataset
from nodegraft.lab.datasets.templates.readers import adjacency_between
from nodegraft.streams.setting import Setting


@dataclass(frozen=True)
class MatlabNodes:
    """Nodes of a MATLAB file."""

    ids: NDArray[np.int64]
    """Node ids, as they occur in the network file."""

    classes: NDArray[np.int64]
    """Class number of each node."""

    counts: "csr_array[Any]"
    """Word counts as a sparse matrix, nodes x words."""

    @classmethod
    def read(cls, path: Path) -> "MatlabNodes":
        """Read ``Index``, ``Label`` and ``Attributes`` from a MATLAB v5 file."""
        try:
            content = loadmat(path)
            ids, classes = content["Index"].ravel(), content["Label"].ravel()
            counts = csr_array(content["Attributes"], dtype=np.float32)
        except (ValueError, NotImplementedError, KeyError) as error:
            raise DataError(
                f"{path} is not a MATLAB v5 file with Index, Label and Attributes ({error}): "
                "fetch the original file again."
            ) from error
        if not (ids.size == classes.size == counts.shape[0]):
            raise DataError(
                f"{path} has {ids.size} ids, {classes.size} labels and {counts.shape[0]} rows of "
                "attributes: these must be equal."
            )
        return cls(ids.astype(np.int64), classes.astype(np.int64), counts)

    def __add__(self, other: "MatlabNodes") -> "MatlabNodes":
        columns = self.counts.shape[1], other.counts.shape[1]
        if columns[0] != columns[1]:
            raise DataError(
                f"The halves have {columns[0]} and {columns[1]} attributes: they do not belong "
                "together."
            )
        return MatlabNodes(
            np.concatenate((self.ids, other.ids)),
            np.concatenate((self.classes, other.classes)),
            csr_array(vstack((self.counts, other.counts), format="csr")),
        )


@dataclass(kw_only=True)
class MatlabDataset(Dataset):
    """Base class of datasets whose nodes are divided into a training and a test half.

    ``required_files`` are the network and the test half, ``optional_files`` is the training half.
    """

    all_classes: ClassVar[int]
    """Number of classes in both halves together."""
    full_setting: ClassVar[Setting]
    """Setting of the split if both halves are available."""
    public_setting: ClassVar[Setting]
    """Setting of the split if only the test half is available."""
    published: ClassVar[str]
    """Description of the paper's split."""

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Parse the test half and, if its file exists, the training half."""
        network, test = self.required_files
        (train,) = self.optional_files
        nodes = MatlabNodes.read(files[test])
        if train in files:
            nodes = MatlabNodes.read(files[train]) + nodes
        order = np.argsort(nodes.ids, kind="stable")
        keys = NodeKeys(nodes.ids[order])
        ends = np.loadtxt(files[network], dtype=np.int64, ndmin=2)
        # Scale rows to length 1, as in other text graphs, so that long texts have no larger weight.
        words = normalise_rows(nodes.counts[order])
        graph = Graph.from_parts(keys, words, adjacency_between(keys, ends))
        return LoadedDataset(
            name=self.name,
            graph=graph,
            labels=NodeLabels.from_numbers(nodes.classes[order]),
            setting=self.full_setting if train in files else self.public_setting,
            notes=self._notes(train in files, nodes, ends),
        )

    def _notes(
        self, is_whole: bool, nodes: MatlabNodes, ends: NDArray[np.int64]
    ) -> tuple[str, ...]:
        notes = [
            f"The paper's split is {self.published}; the validation classes are taken from its "
            "pseudo-novel ones."
        ]
        if not is_whole:
            notes = [
                f"{np.unique(nodes.classes).size} of {self.all_classes} classes: "
                f"{self.optional_files[0]} is absent, so the split is not the paper's."
            ]
        dropped = np.setdiff1d(ends, nodes.ids).size
        if dropped:
            notes.append(f"{dropped} nodes with neither attributes nor label were dropped.")
        return tuple(notes)
