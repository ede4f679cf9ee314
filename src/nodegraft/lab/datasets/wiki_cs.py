"""WikiCS dataset: articles on computer science, joined by links."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nodegraft.lab.datasets.templates.dataset import Dataset, LoadedDataset
from nodegraft.lab.datasets.templates.numbered import numbered_dataset
from nodegraft.lab.datasets.templates.readers import read_raw


@dataclass(kw_only=True)
class WikiCS(Dataset):
    """Articles of Wikipedia: mean word vectors as features, 10 branches as classes; read with PyG.

    With 10 classes a stream has four new ones: use it as a check, not as a headline.
    """

    name: ClassVar[str] = "wiki-cs"
    summary: ClassVar[str] = "articles joined by links; classes are 10 branches"
    citation: ClassVar[str] = (
        "Mernyei and Cangea 2020, Wiki-CS: a Wikipedia-based benchmark for graph neural networks, "
        "https://arxiv.org/abs/2007.02901"
    )
    fetch: ClassVar[str] = (
        "python -c \"from torch_geometric.datasets import WikiCS; WikiCS('wiki-cs')\""
    )
    folders: ClassVar[tuple[str, ...]] = ("wiki-cs", "wiki-cs/raw")
    required_files: ClassVar[tuple[str, ...]] = ("data.json",)

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Parse the raw file; links lose their direction, and the published masks are ignored."""
        from torch_geometric import datasets

        data = read_raw(files.values(), "raw", lambda root: datasets.WikiCS(root, None, None, True))
        return numbered_dataset(
            self.name, data.x.numpy(), data.edge_index.numpy(), data.y.numpy().astype(float)
        )
