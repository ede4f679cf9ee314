"""Reddit dataset: posts, joined if the same users commented on them."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nodegraft.graph.labels import NodeLabels
from nodegraft.lab.datasets.templates.dataset import Dataset, LoadedDataset
from nodegraft.lab.datasets.templates.readers import numbered_graph, read_raw
from nodegraft.streams.setting import Setting


@dataclass(kw_only=True)
class Reddit(Dataset):
    """Posts of September 2014: mean word vectors, 41 communities as classes; read with PyG."""

    name: ClassVar[str] = "reddit"
    summary: ClassVar[str] = "posts joined by shared commenters; classes are communities"
    citation: ClassVar[str] = (
        "Hamilton et al. 2017, Inductive representation learning on large graphs, "
        "https://arxiv.org/abs/1706.02216"
    )
    folders: ClassVar[tuple[str, ...]] = ("reddit", "reddit/raw", "Reddit/raw")
    required_files: ClassVar[tuple[str, ...]] = ("reddit_data.npz", "reddit_graph.npz")

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Parse the raw files; features stay dense, and the published masks are ignored."""
        from torch_geometric import datasets

        data = read_raw(files.values(), "raw", datasets.Reddit)
        return LoadedDataset(
            name=self.name,
            graph=numbered_graph(data, data.x.numpy()),
            labels=NodeLabels.from_numbers(data.y.numpy()),
            setting=Setting(base=11, pseudo_novel=8, validation=2, novel=20, ways=2, shots=3),
            notes=(
                "The paper's split is 11/10/20; the validation classes are taken from its "
                "pseudo-novel ones.",
            ),
        )
