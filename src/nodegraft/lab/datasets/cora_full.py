"""Cora-Full dataset: papers, joined by citation."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from nodegraft.graph.labels import NodeLabels
from nodegraft.lab.datasets.templates.dataset import Dataset, LoadedDataset
from nodegraft.lab.datasets.templates.readers import numbered_graph, read_raw
from nodegraft.streams.setting import Setting


@dataclass(kw_only=True)
class CoraFull(Dataset):
    """Citation graph: words in papers as features, 70 topics as classes; read with PyG."""

    name: ClassVar[str] = "cora-full"
    summary: ClassVar[str] = "papers joined by citation; classes are 70 topics"
    citation: ClassVar[str] = (
        "Bojchevski and Günnemann 2018, Deep Gaussian embedding of graphs, "
        "https://arxiv.org/abs/1707.03815"
    )
    folders: ClassVar[tuple[str, ...]] = ("cora-full", "cora-full/cora/raw", "CoraFull/cora/raw")
    required_files: ClassVar[tuple[str, ...]] = ("cora.npz",)

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Parse the raw files; features become sparse, because 99 % are zero."""
        from torch_geometric import datasets

        data = read_raw(files.values(), "cora/raw", datasets.CoraFull)
        return LoadedDataset(
            name=self.name,
            graph=numbered_graph(data, csr_array(data.x.numpy(), dtype=np.float32)),
            labels=NodeLabels.from_numbers(data.y.numpy()),
            setting=Setting(base=20, pseudo_novel=20, validation=5, novel=25, ways=5, shots=5),
        )
