"""WordNet dataset: meanings of English nouns and verbs, joined by all their relations."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nodegraft.lab.datasets.templates.dataset import Dataset, LoadedDataset
from nodegraft.lab.datasets.templates.readers import read_lines
from nodegraft.lab.datasets.templates.text_graph import WORDS_NOTE, TextNode, text_graph
from nodegraft.streams.setting import Setting

NAMES = "lexnames.tsv"
FILES = {"n": "data.noun.xz", "v": "data.verb.xz"}
# Map pointer symbols to edge types. Inverse pointers (such as ~, which is the inverse of @) are
# left out, because they are duplicates.
POINTERS = {
    **{"@": "is-a", "@i": "instance", "#m": "member", "#s": "substance", "#p": "part"},
    **{";c": "topic", ";r": "region", ";u": "usage", "*": "entails", ">": "causes"},
    **{"!": "antonym", "+": "derivation", "$": "group", "^": "also"},
}
KINDS = {kind: kind not in ("antonym", "derivation", "group", "also") for kind in POINTERS.values()}
# Class of the roots of the noun hierarchy; it is left out, because it is a position in the tree and
# not a topic.
ROOTS = "noun.Tops"


@dataclass(kw_only=True)
class WordNet(Dataset):
    """Graph of synsets: words of glosses as features, 40 lexicographer files as classes."""

    name: ClassVar[str] = "wordnet"
    summary: ClassVar[str] = "meanings of nouns and verbs and their relations; very uneven classes"
    citation: ClassVar[str] = "Princeton University, WordNet 3.0"
    licence: ClassVar[str] = "WordNet 3.0 licence"
    site: ClassVar[str] = "https://wordnet.princeton.edu"
    folders: ClassVar[tuple[str, ...]] = ("wordnet",)
    required_files: ClassVar[tuple[str, ...]] = (*FILES.values(), NAMES)

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Parse the raw files; features are word counts of the gloss.

        The gloss is the definition of a synset. The words of a synset and its part of speech are
        not used as features.
        """
        names = read_names(files[NAMES])
        synsets = [
            synset
            for letter, file in FILES.items()
            for synset in read_synsets(files[file], letter, names)
            if synset.label != ROOTS
        ]
        graph, labels = text_graph(synsets, KINDS)
        setting = Setting(base=12, pseudo_novel=6, validation=2, novel=20, ways=2, shots=5)
        return LoadedDataset(self.name, graph, labels, setting, notes=(WORDS_NOTE,))


def read_names(path: Path) -> dict[str, str]:
    """Return the names of the lexicographer files by their two-digit numbers."""
    lines = path.read_text(encoding="utf-8").splitlines()
    cells = [line.split("\t") for line in lines if line]
    return {number: name.strip() for number, name, *_ in cells}


def read_synsets(path: Path, letter: str, names: dict[str, str]) -> Iterator[TextNode]:
    """Yield a node for each line; skip the licence, whose lines start with a space."""
    for line in read_lines(path, encoding="latin-1"):
        if not line.startswith(" "):
            facts, _, gloss = line.partition("|")
            offset, number, *rest = facts.split()
            yield TextNode(letter + offset, names[number], gloss, pointers(rest[1:]))


def pointers(fields: list[str]) -> dict[str, list[str]]:
    """Return the keys of synsets to which a synset points, by edge type.

    >>> pointers("01 entity 0 003 @ 00001930 n 0000 ~ 00002137 n 0000 + 00692347 v 0101".split())
    {'is-a': ['n00001930'], 'derivation': ['v00692347']}

    Args:
        fields: Fields of a line, starting with the hexadecimal number of words.
    """
    start = 1 + 2 * int(fields[0], 16)
    end = start + 1 + 4 * int(fields[start])
    words_of: dict[str, list[str]] = {}
    symbols, offsets, letters = (fields[start + place : end : 4] for place in (1, 2, 3))
    for symbol, offset, letter in zip(symbols, offsets, letters, strict=True):
        if symbol in POINTERS:
            words_of.setdefault(POINTERS[symbol], []).append(letter + offset)
    return words_of
