"""Graph of word counts, made from records with texts and references to each other."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.relation import by_rows
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.labels import NodeLabels
from nodegraft.tables.features.text import TextVectoriser

MIN_DOCUMENTS = 3

WORDS_NOTE = (
    "The vocabulary (without English stop words) is chosen over the texts of all classes, later "
    "ones included; a node's row depends on its own text alone (no inverse document frequencies)."
)


@dataclass(frozen=True, slots=True)
class TextNode:
    """Node whose features are made from ``text`` only, never from its key or class."""

    key: str
    """Key of the node."""

    label: str
    """Class of the node."""

    text: str
    """Text that describes the node."""

    links: Mapping[str, Collection[str]]
    """Keys of the nodes to which the node links, by edge type."""


class Labelled(Protocol):
    """Type of a record with a class label."""

    @property
    def label(self) -> str:
        """Class of the record."""


Node = TypeVar("Node", bound=Labelled)


def in_large_classes(
    records: Sequence[Node], smallest: int, without: Collection[str] = ()
) -> list[Node]:
    """Return the records of classes with at least `smallest` records, except those in `without`."""
    sizes = Counter(record.label for record in records)
    large = {label for label, size in sizes.items() if size >= smallest and label not in without}
    if not large:
        raise DataError(f"No class has {smallest} nodes: lower smallest_class.")
    return [record for record in records if record.label in large]


def text_graph(records: Sequence[TextNode], kinds: Mapping[str, bool]) -> tuple[Graph, NodeLabels]:
    """Build a graph and labels from records; skip links to keys that no record has.

    Rows are in the order of the records.

    >>> pair = [TextNode("a", "x", "red hat", {"on": ["b", "c"]}), TextNode("b", "y", "hat", {})]
    >>> nodes = [*pair, TextNode("d", "y", "hat", {"by": ["a"]})]
    >>> graph, labels = text_graph(nodes, {"on": True, "by": False})
    >>> graph.relations, graph.num_edges, graph.num_features, labels.classes
    (('on', 'by'), 2, 1, ('x', 'y'))
    """
    row = {record.key: place for place, record in enumerate(records)}
    edges = {}
    for kind, directed in kinds.items():
        links = [
            (row[record.key], row[link])
            for record in records
            for link in record.links.get(kind, ())
            if link in row
        ]
        source, target = np.array(links, dtype=np.int64).reshape(-1, 2).T
        edges[kind] = by_rows(source, target, len(records), None, directed)
    graph = Graph.from_parts(
        NodeKeys([record.key for record in records]),
        word_counts([record.text for record in records]),
        edges,
    )
    return graph, NodeLabels.from_names(record.label for record in records)


def word_counts(texts: Sequence[str]) -> "csr_array[Any]":
    """Count words in each text and scale rows to length 1.

    Words that occur in fewer than :data:`MIN_DOCUMENTS` texts and stop words are left out.

    >>> word_counts(["a red hat", "the hat", "hat"]).toarray().tolist()
    [[1.0], [1.0], [1.0]]
    """
    words = TextVectoriser(MIN_DOCUMENTS, use_idf=False, stop_words="english").fit(texts)
    return words.transform(texts)
