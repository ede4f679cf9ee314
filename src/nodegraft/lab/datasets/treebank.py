"""Treebank dataset: words of English texts, joined by order, syntax and reference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.lab.datasets.templates import readers
from nodegraft.lab.datasets.templates.dataset import HELD_OUT_NOTE, Dataset, LoadedDataset
from nodegraft.lab.datasets.templates.text_graph import MIN_DOCUMENTS, in_large_classes
from nodegraft.streams.setting import Setting

CLASSES, NODES, EDGES = "classes.tsv", "nodes.tsv.xz", "edges.tsv.xz"
# ``next``: the target follows the source. ``head``: one word is the syntactic head of the other.
# ``coref``: both words are heads of successive mentions of the same entity.
# The file does not say which word of a pair is the head: otherwise a word without a head could be
# recognised as a root.
KINDS: Mapping[str, bool] = {"next": True, "head": False, "coref": False}
LENGTHS = (1, 4)

LETTERS_NOTE = (
    "Which runs of letters are columns is chosen over the words of all classes, later ones "
    "included; a node's row depends on its own word alone."
)
DOCUMENTS_NOTE = "Words of one document may stand on both sides of a split."


@dataclass(kw_only=True)
class Treebank(Dataset):
    """Dataset of words in sentences: letters as features, 42 syntactic roles as classes."""

    smallest_class: PositiveInt = 60
    """Minimum number of words of a syntactic role; smaller roles are left out."""

    name: ClassVar[str] = "treebank-roles"
    summary: ClassVar[str] = "words of texts and their syntax; roles that edges ignore (held out)"
    citation: ClassVar[str] = (
        "Zeldes 2017, The GUM corpus, Language Resources and Evaluation 51(3); 108 documents"
    )
    licence: ClassVar[str] = "CC-BY-SA-4.0 as a whole; each document has its own"
    site: ClassVar[str] = "https://github.com/amir-zeldes/gum"
    folders: ClassVar[tuple[str, ...]] = ("treebank-roles",)
    required_files: ClassVar[tuple[str, ...]] = (CLASSES, NODES, EDGES)

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Parse the raw files; the class of a word is its syntactic role.

        Features are made from the letters of the word, not from its document.
        """
        words = readers.read_nodes(files[NODES], files[CLASSES], 4, 3)
        nodes = in_large_classes(words, self.smallest_class)
        letters = letter_runs([node.text for node in nodes])
        edges = readers.read_typed_edges(files[EDGES], KINDS)
        graph, labels = readers.typed_graph(nodes, letters, edges)
        setting = Setting(
            base=14, pseudo_novel=6, validation=2, novel=20, ways=2, shots=5, base_nodes=100
        )
        notes = (HELD_OUT_NOTE, LETTERS_NOTE, DOCUMENTS_NOTE)
        return LoadedDataset(self.name, graph, labels, setting, notes=notes)


def letter_runs(words: Sequence[str]) -> "csr_array[Any]":
    """Return the n-grams of one to four letters in each word, including spaces at its ends.

    Values depend on whether an n-gram occurs, not on how often: with counts, the space at both ends
    would have the largest weight. Rows have length 1.

    >>> letter_runs(["An", "an", "an"]).shape  # " ", a, n, " a", an, "n ", " an", "an ", " an "
    (3, 9)
    """
    # Import here, because the import takes a second, and commands without text do not need it.
    from sklearn.feature_extraction.text import TfidfVectorizer

    engine = TfidfVectorizer(
        analyzer="char_wb",
        ngram_range=LENGTHS,
        min_df=MIN_DOCUMENTS,
        binary=True,
        use_idf=False,
        dtype=np.float32,
    )
    try:
        return csr_array(engine.fit_transform(words))
    except ValueError as error:
        raise DataError(
            f"No letter occurs in {MIN_DOCUMENTS} of {len(words)} words: lower smallest_class."
        ) from error
