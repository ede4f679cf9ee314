"""ogbn-arxiv dataset: papers of computer science, joined by citation."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.lab.datasets.templates.numbered import OGB_FILES, OgbDataset


@dataclass(kw_only=True)
class OgbnArxiv(OgbDataset):
    """Citation graph: mean word vectors as features, 40 subject areas as classes."""

    name: ClassVar[str] = "ogbn-arxiv"
    summary: ClassVar[str] = "papers joined by citation; classes are 40 subject areas"
    fetch: ClassVar[str] = "unpack https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip"
    folders: ClassVar[tuple[str, ...]] = ("ogbn-arxiv", "arxiv", "ogbn_arxiv")
    mapping: ClassVar[str] = "mapping/labelidx2arxivcategeory.csv.gz"
    required_files: ClassVar[tuple[str, ...]] = (*OGB_FILES, mapping)
