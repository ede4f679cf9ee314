"""Coauthor CS dataset: authors in computer science, joined if they wrote a paper together."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nodegraft.base.errors import DataError
from nodegraft.lab.datasets.templates import readers
from nodegraft.lab.datasets.templates.dataset import HELD_OUT_NOTE, Dataset, LoadedDataset
from nodegraft.streams.setting import Setting

CLASSES, LABELS, EDGES = "classes.tsv", "labels.tsv.xz", "edges.tsv.xz"
ATTRIBUTES, TERMS = "attributes.txt.xz", "terms.txt.xz"
KIND = "paper"


@dataclass(kw_only=True)
class CoauthorCS(Dataset):
    """Graph of co-authors: keywords of papers as features, 15 fields of research as classes."""

    name: ClassVar[str] = "coauthor-cs"
    summary: ClassVar[str] = "authors joined by joint papers; classes are 15 fields (held out)"
    citation: ClassVar[str] = (
        "Shchur et al. 2018, Pitfalls of graph neural network evaluation, "
        "https://arxiv.org/abs/1811.05868"
    )
    site: ClassVar[str] = "https://github.com/EdisonLeeeee/GraphData"
    folders: ClassVar[tuple[str, ...]] = ("coauthor-cs",)
    required_files: ClassVar[tuple[str, ...]] = (CLASSES, LABELS, EDGES, ATTRIBUTES, TERMS)

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Parse the raw files: classes are authors' most active fields, features are keywords."""
        nodes = read_authors(files[LABELS], files[CLASSES], files[ATTRIBUTES])
        words = sum(1 for _ in readers.read_lines(files[TERMS]))
        counts = readers.read_counts((node.text for node in nodes), words)
        graph, labels = readers.typed_graph(
            nodes, readers.weighted_counts(counts), read_edges(files[EDGES])
        )
        setting = Setting(
            base=5, pseudo_novel=2, validation=2, novel=6, ways=2, shots=5, base_nodes=100
        )
        notes = (HELD_OUT_NOTE, readers.COUNTS_NOTE)
        return LoadedDataset(self.name, graph, labels, setting, notes=notes)


def read_authors(labels: Path, classes: Path, attributes: Path) -> list[readers.NumberedNode]:
    """Return a node for each author, in the order of the labels file.

    Args:
        labels: File with the number and the class number of each author.
        classes: File with the number and the name of each class.
        attributes: File whose line i has the keywords of author i, as pairs of column and count.
    """
    names = {number: name for number, name, _ in readers.read_rows(classes, 3)}
    texts = list(readers.read_lines(attributes))
    numbered = [
        (readers.number_in(node, labels), number) for node, number in readers.read_rows(labels, 2)
    ]
    if sorted(node for node, _ in numbered) != list(range(len(texts))):
        raise DataError(
            f"{labels} names {len(numbered)} authors, {attributes} has lines for {len(texts)}: "
            "every line needs one label. Fetch both again."
        )
    return [readers.NumberedNode(node, names[number], texts[node]) for node, number in numbered]


def read_edges(path: Path) -> Iterator[readers.TypedEdge]:
    """Yield co-author edges: one undirected edge type; the number of joint papers is not used."""
    for author, other in readers.read_rows(path, 2):
        yield readers.TypedEdge(
            readers.number_in(author, path), readers.number_in(other, path), KIND, is_directed=False
        )
