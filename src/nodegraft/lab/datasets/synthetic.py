"""Synthetic dataset: a contextual stochastic block model of any size."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import ClassVar

from nodegraft.graph.block_model import BlockModel
from nodegraft.lab.datasets.templates.dataset import Dataset, LoadedDataset, setting_for


@dataclass(kw_only=True)
class Synthetic(BlockModel, Dataset):
    """Random graph from a seed; see :class:`~nodegraft.graph.block_model.BlockModel` for options.

    >>> loaded = Synthetic(nodes=300, classes=8).load()
    >>> loaded.graph.num_nodes, len(loaded.labels), loaded.setting.classes
    (300, 8, 8)
    """

    name: ClassVar[str] = "synthetic"
    summary: ClassVar[str] = "drawn by seed, of any size; for tests and for measuring speed"
    citation: ClassVar[str] = "Deshpande et al. 2018, Contextual stochastic block models"

    def load(
        self, root: str | Path | None = None, cache: str | Path | None = None
    ) -> LoadedDataset:
        """Draw the dataset without a cache, because drawing is faster than reading a cache.

        Args:
            root: Has no effect.
            cache: Has no effect.
        """
        return replace(self.parse({}), options=asdict(self))

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Draw the graph and its labels; no files are read."""
        graph, labels = self.draw()
        return LoadedDataset(self.name, graph, labels, setting_for(self.classes))
