"""Metamath dataset: theorems of a formal library, joined by proofs, symbols and comments."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.lab.datasets.templates import readers
from nodegraft.lab.datasets.templates.dataset import HELD_OUT_NOTE, Dataset, LoadedDataset
from nodegraft.lab.datasets.templates.text_graph import WORDS_NOTE, in_large_classes, word_counts
from nodegraft.streams.setting import Setting

CLASSES, NODES, EDGES = "classes.tsv", "nodes.tsv.xz", "edges.tsv.xz"
# Edges point to earlier statements, and chapters are consecutive: code that uses directions must
# not derive an order of statements from them, because it would reveal the chapter.
KINDS: Mapping[str, bool] = {"proof": True, "symbol": True, "see": True}


@dataclass(kw_only=True)
class Metamath(Dataset):
    """Graph of theorems, axioms and definitions: words of comments, 73 chapters as classes."""

    smallest_class: PositiveInt = 60
    """Minimum number of statements of a chapter; smaller chapters are left out."""

    name: ClassVar[str] = "metamath-theorems"
    summary: ClassVar[str] = "theorems joined by proofs; classes are chapters (held out)"
    citation: ClassVar[str] = "Metamath, set.mm of 28 December 2020 (public domain)"
    folders: ClassVar[tuple[str, ...]] = ("metamath-theorems",)
    required_files: ClassVar[tuple[str, ...]] = (CLASSES, NODES, EDGES)

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Parse the raw files; the class of a statement is its chapter.

        Names and formulas are not read, because they nearly reveal the chapter.
        """
        statements = read_statements(files[NODES], files[CLASSES])
        nodes = in_large_classes(statements, self.smallest_class)
        words = word_counts([node.text for node in nodes])
        graph, labels = readers.typed_graph(nodes, words, read_edges(files[EDGES]))
        setting = Setting(
            base=25, pseudo_novel=14, validation=4, novel=30, ways=5, shots=5, base_nodes=100
        )
        notes = (HELD_OUT_NOTE, WORDS_NOTE)
        return LoadedDataset(self.name, graph, labels, setting, notes=notes)


def read_statements(nodes: Path, classes: Path) -> list[readers.NumberedNode]:
    """Return a node for each statement.

    Args:
        nodes: File with number, class number, kind (axiom or theorem) and comment per line.
        classes: File with the number and the name of each chapter.
    """
    chapters = {
        number: " ".join(name.split()) for number, _, _, name in readers.read_rows(classes, 4)
    }
    return [
        readers.NumberedNode(readers.number_in(node, nodes), chapters[number], comment)
        for node, number, _, comment in readers.read_rows(nodes, 4)
    ]


def read_edges(path: Path) -> Iterator[readers.TypedEdge]:
    """Yield the edges between statements.

    ``proof``: the proof of the source cites the target. ``symbol``: the source uses a symbol that
    the target defines. ``see``: the comment of the source names the target.
    """
    return readers.read_typed_edges(path, KINDS)
