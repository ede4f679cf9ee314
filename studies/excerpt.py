"""The excerpt of WordNet that comes with the package: ``python -m studies.excerpt --data DIR``.

Nine noun branches (lexicographer files) of WordNet 3.0, as three tables that ``nodegraft example``
hands out. A node is a synset under its first word ("joy"; the next synset of that word in the file
is "joy-2"). Its description is the gloss: neither its words nor the file it comes from, which is
the class, become features. Edges are the pointers between these nodes, each with its kind. Labels
are given to a third of the nodes of every class, drawn by the hash of their keys, and to none of
the class that the tutorial teaches.

Writes ``src/nodegraft/lab/datasets/excerpt/``.
"""

import argparse
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from nodegraft.graph.keys import hash_order
from nodegraft.lab.datasets.templates.readers import read_lines
from nodegraft.lab.datasets.wordnet import FILES, NAMES, pointers, read_names

FOLDER = Path(__file__).parents[1] / "src" / "nodegraft" / "lab" / "datasets" / "excerpt"
LICENCE = "LICENSE"
NEW = "feeling"
CLASSES = (
    *("body", NEW, "food", "phenomenon", "possession"),
    *("process", "relation", "shape", "time"),
)
LABELLED = 1 / 3


@dataclass(frozen=True)
class Synset:
    """Used part of a line of the file of nouns."""

    offset: str
    """What pointers call it."""

    label: str
    """Its class: the name of its file, without ``noun.``."""

    word: str
    """The first of its words."""

    gloss: str
    """What it means."""

    links: Mapping[str, Collection[str]]
    """Kind of pointer -> the offsets it points to."""


def main() -> None:
    """Read the files of WordNet and write the excerpt."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True, help="the folder with data folders")
    source = parser.parse_args().data / "wordnet"
    write(source, FOLDER)
    sizes = {file.name: file.stat().st_size for file in sorted(FOLDER.iterdir())}
    for name, size in {**sizes, "in all": sum(sizes.values())}.items():
        print(f"{size:>10,}  {name}")


def write(source: Path, folder: Path) -> None:
    """The three tables and the licence.

    Args:
        source: The folder with the files of WordNet.
        folder: Where they are written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables(source).items():
        place = folder / f"{name}.parquet"
        parquet.write_table(
            table, place, compression="zstd", compression_level=19, write_statistics=False
        )
    (folder / LICENCE).write_bytes((source / LICENCE).read_bytes())


def tables(source: Path) -> dict[str, pa.Table]:
    """Return nodes, edges and labels in alphabetical order, so that row numbers say nothing.

    Args:
        source: The folder with the files of WordNet.
    """
    nodes = named(read_nouns(source))
    key_of = {f"n{synset.offset}": key for key, synset in nodes.items()}
    # A set: words of a synset that point to words of the same other one repeat its pointer.
    edges = sorted(
        {
            (key, key_of[link], kind)
            for key, synset in nodes.items()
            for kind, links in synset.links.items()
            for link in links
            if link in key_of and key_of[link] != key
        }
    )
    found = sorted(nodes.items())
    label_of = {key: nodes[key].label for name in CLASSES for key in labelled(nodes, name)}
    return {
        "nodes": pa.table(
            {"key": [key for key, _ in found], "description": [synset.gloss for _, synset in found]}
        ),
        "edges": pa.table(
            {
                "source": [source for source, _, _ in edges],
                "target": [target for _, target, _ in edges],
                "kind": [kind for _, _, kind in edges],
            }
        ),
        "labels": pa.table(
            {"key": sorted(label_of), "label": [label_of[key] for key in sorted(label_of)]}
        ),
    }


def read_nouns(source: Path) -> Iterator[Synset]:
    """Read the synsets of the chosen classes, in the order of the file.

    Args:
        source: The folder with the files of WordNet.
    """
    names = read_names(source / NAMES)
    for line in read_lines(source / FILES["n"], encoding="latin-1"):
        if line.startswith(" "):  # the licence
            continue
        facts, _, gloss = line.partition("|")
        offset, number, _, *rest = facts.split()
        label = names[number].removeprefix("noun.")
        if label in CLASSES:
            yield Synset(offset, label, rest[1], gloss.strip(), pointers(rest))


def named(synsets: Iterator[Synset]) -> dict[str, Synset]:
    """Return the synsets by a key that is easy to read and type.

    Args:
        synsets: In the order in which those of one word are numbered.
    """
    found: dict[str, Synset] = {}
    for synset in synsets:
        key, number = synset.word, 1
        while key in found:
            number += 1
            key = f"{synset.word}-{number}"
        found[key] = synset
    return found


def labelled(nodes: Mapping[str, Synset], name: str) -> list[str]:
    """Return the nodes of a class whose labels are written.

    Args:
        nodes: All nodes by key.
        name: The class.
    """
    if name == NEW:
        return []
    keys = np.array([key for key, synset in nodes.items() if synset.label == name], dtype=object)
    chosen: list[str] = keys[hash_order(keys)[: round(LABELLED * keys.size)]].tolist()
    return chosen


if __name__ == "__main__":
    main()
