"""Synthetic: a contextual stochastic block model of any size."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from nodegraft.base.errors import ParameterError
from nodegraft.base.seeds import Seeds
from nodegraft.datasets.base import Dataset, LoadedDataset
from nodegraft.datasets.numbered import numbered_classes
from nodegraft.graph.adjacency import Adjacency
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.matrix import IntArray, Matrix
from nodegraft.graph.split import Setting

_BLOCK = 1 << 18


@dataclass(kw_only=True)
class Synthetic(Dataset):
    r"""Classes of equal size, edges within and between them, features around class means.

    Each of ``nodes * degree / 2`` drawn edges ends within the class it starts from with
    probability ``homophily``, else in one of the others; repeated ones count once. Dense
    features are :math:`x \sim N(\mu_c, I)` with means ``signal`` apart. Sparse ones count
    ``words`` drawn words, a share :math:`s / (1 + s)` of them from the class's own few.

    >>> loaded = Synthetic(nodes=300, classes=8).load()
    >>> loaded.graph.num_nodes, len(loaded.labels), loaded.setting.classes
    (300, 8, 8)
    """

    nodes: int = 2000
    classes: int = 20
    homophily: float = 0.8
    degree: float = 8.0
    features: int = 64
    signal: float = 4.0
    sparse: bool = False
    words: int = 12
    seed: int = 0

    name: ClassVar[str] = "synthetic"
    summary: ClassVar[str] = "drawn by seed, of any size; for tests and for measuring speed"
    citation: ClassVar[str] = "Deshpande et al. 2018, Contextual stochastic block models"

    def load(
        self, root: str | Path | None = None, cache: str | Path | None = None
    ) -> LoadedDataset:
        """Drawn anew each time: that is faster than a cache would be."""
        return replace(self.parse({}), options=asdict(self))

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Node ``order[slot]`` has class ``slot % classes``, so that a class is a stride."""
        self._check()
        seeds = Seeds(self.seed)
        order = seeds.generator("order").permutation(np.arange(self.nodes, dtype=self._rows))
        ids = np.empty(self.nodes, dtype=np.int32)
        ids[order] = np.arange(self.nodes) % self.classes
        source, target = self._slots(seeds.generator("edges"))
        adjacency = Adjacency.from_edges(order[source], order[target], self.nodes)
        draw = self._counts if self.sparse else self._gaussians
        features = draw(ids, seeds.generator("features"))
        graph = Graph.from_parts(NodeKeys(np.arange(self.nodes)), features, adjacency)
        return LoadedDataset(self.name, graph, numbered_classes(ids), setting_for(self.classes))

    def _check(self) -> None:
        if not 4 <= self.classes <= self.nodes:
            raise ParameterError(f"classes must be from 4 to nodes ({self.nodes}): {self.classes}.")
        if not 0.0 <= self.homophily <= 1.0:
            raise ParameterError(f"homophily is a probability, not {self.homophily}.")
        if min(self.degree, self.signal) < 0 or min(self.features, self.words) < 1:
            raise ParameterError(
                "degree and signal must not be negative, features and words at least 1."
            )

    @property
    def _rows(self) -> type[np.int32] | type[np.int64]:
        return np.int32 if self.nodes < 2**31 else np.int64

    def _slots(self, draws: np.random.Generator) -> tuple[IntArray, IntArray]:
        count = round(self.nodes * self.degree / 2)
        source = draws.integers(self.nodes, size=count, dtype=self._rows)
        step = draws.integers(1, self.classes, size=count, dtype=np.int32)
        step[draws.random(count, dtype=np.float32) < self.homophily] = 0
        column = (source % self.classes + step) % self.classes
        # The first classes have one member more where the numbers do not divide.
        sizes: IntArray = (self.nodes - 1 - column) // self.classes + 1
        place: IntArray = (draws.random(count) * sizes).astype(self._rows)
        return source, column + self.classes * place

    def _gaussians(self, ids: IntArray, draws: np.random.Generator) -> Matrix:
        means = draws.standard_normal((self.classes, self.features), dtype=np.float32)
        # Random directions are nearly orthogonal, so this length puts ends ``signal`` apart.
        means *= self.signal / np.sqrt(2) / np.linalg.norm(means, axis=1, keepdims=True)
        rows = draws.standard_normal((self.nodes, self.features), dtype=np.float32)
        for start in range(0, self.nodes, _BLOCK):
            rows[start : start + _BLOCK] += means[ids[start : start + _BLOCK]]
        return rows

    def _counts(self, ids: IntArray, draws: np.random.Generator) -> "csr_array[Any]":
        few = max(2, self.features // 16)
        own = draws.integers(self.features, size=(self.classes, few), dtype=np.int32)
        shape = (self.nodes, self.words)
        drawn = draws.integers(self.features, size=shape, dtype=np.int32)
        topical = draws.random(shape, dtype=np.float32) < self.signal / (1.0 + self.signal)
        which = draws.integers(few, size=shape, dtype=np.int32)
        drawn[topical] = own[ids[:, None], which][topical]
        ends = np.arange(0, drawn.size + 1, self.words)
        ones = np.ones(drawn.size, dtype=np.float32)
        counts = csr_array((ones, drawn.ravel(), ends), shape=(self.nodes, self.features))
        counts.sum_duplicates()
        return counts


def setting_for(classes: int) -> Setting:
    """Two fifths of the classes are new, a fifth pseudo-novel, a tenth for validation.

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
