"""Metamath dataset: theorems of a formal library, joined by proofs, symbols and comments."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.lab.datasets.templates import readers
from nodegraft.lab.datasets.templates.dataset import HELD_OUT_NOTE, Dataset, LoadedDataset
from nodegraft.lab.datasets.templates.text_graph import WORDS_NOTE, in_large_classes, word_counts
from nodegraft.streams.setting import Setting

CLASSES, NODES, EDGES = "classes.tsv", "nodes.tsv.xz", "edges.tsv.xz"
# ``proof``: the proof of the source cites the target. ``symbol``: the source uses a symbol that the
# target defines. ``see``: the comment of the source names the target.
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
    licence: ClassVar[str] = "CC0-1.0"
    site: ClassVar[str] = "https://us.metamath.org"
    folders: ClassVar[tuple[str, ...]] = ("metamath-theorems",)
    required_files: ClassVar[tuple[str, ...]] = (CLASSES, NODES, EDGES)

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Parse the raw files; the class of a statement is its chapter.

        Names and formulas are not read, because they nearly reveal the chapter.
        """
        statements = readers.read_nodes(files[NODES], files[CLASSES], 4, 4)
        nodes = in_large_classes(statements, self.smallest_class)
        words = word_counts([node.text for node in nodes])
        edges = readers.read_typed_edges(files[EDGES], KINDS)
        graph, labels = readers.typed_graph(nodes, words, edges)
        setting = Setting(
            base=25, pseudo_novel=14, validation=4, novel=30, ways=5, shots=5, base_nodes=100
        )
        notes = (HELD_OUT_NOTE, WORDS_NOTE)
        return LoadedDataset(self.name, graph, labels, setting, notes=notes)
