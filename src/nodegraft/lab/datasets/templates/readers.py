"""Readers of raw files: PyG archives, xz, tab-separated tables, words, nodes and typed edges."""

import contextlib
import io
import lzma
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import Matrix, normalise_rows
from nodegraft.graph.edges.relation import by_rows
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.labels import NodeLabels

if TYPE_CHECKING:
    from torch_geometric.data import Data


def read_raw(files: Iterable[Path], folder: str, make: Callable[[str], Any]) -> "Data":
    """What ``make(root)`` gives for a root whose ``folder`` holds links to the files.

    PyG writes what it has processed beside the raw files, and the user's folder may be
    read-only; so it works in a folder of its own, which is gone afterwards.

    Args:
        folder: Where PyG looks for them, below its root.
    """
    with tempfile.TemporaryDirectory(prefix="nodegraft-") as root:
        raw = Path(root, folder)
        raw.mkdir(parents=True)
        for path in files:
            (raw / path.name).symlink_to(path.resolve())
        # PyG tells its progress on standard error; a library keeps quiet.
        with contextlib.redirect_stderr(io.StringIO()):
            return make(root)[0]


def numbered_graph(data: "Data", features: Matrix) -> Graph:
    """The graph of a PyG ``Data`` with row numbers for keys."""
    source, target = data.edge_index.numpy()
    count = features.shape[0]
    adjacency = Adjacency.from_edges(source, target, count)
    return Graph.from_parts(NodeKeys(np.arange(count)), features, adjacency)


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[str]:
    """Every line of a compressed text file, with its line end."""
    try:
        with lzma.open(path, "rt", encoding=encoding) as lines:
            yield from lines
    except (lzma.LZMAError, EOFError) as error:
        raise DataError(
            f"{path} is truncated or not an .xz file ({error}): fetch it again."
        ) from error


def read_stanzas(path: Path) -> Iterator[dict[str, str]]:
    """Blocks of ``Field: value`` lines, a blank line between; indented lines continue a value.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "index.xz")
    ...     with lzma.open(path, "wt") as file:
    ...         _ = file.write("Package: a\\nText: one\\n two\\n\\nPackage: b\\n")
    ...     list(read_stanzas(path))
    [{'Package': 'a', 'Text': 'one\\ntwo'}, {'Package': 'b'}]
    """
    stanza: dict[str, str] = {}
    field = ""
    for line in read_lines(path):
        # A line of blanks is no end: it continues a description.
        if line == "\n":
            if stanza:
                yield stanza
            stanza = {}
        elif line[0] == " ":
            stanza[field] += "\n" + line.strip()
        else:
            field, _, value = line.partition(":")
            stanza[field] = value.strip()
    if stanza:
        yield stanza


def read_rows(path: Path, fields: int) -> Iterator[list[str]]:
    """The fields of every line, split at TAB; quotes are letters like any other.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "names.tsv")
    ...     _ = path.write_text('0\\ta "b\\n1\\t\\n')
    ...     list(read_rows(path, 2))
    [['0', 'a "b'], ['1', '']]

    Args:
        path: The file, compressed if its name ends in ``.xz``.
        fields: How many each line must have.
    """
    for number, line in enumerate(_lines(path), start=1):
        row = line.rstrip("\n").split("\t")
        if len(row) != fields:
            raise DataError(
                f"{path}, line {number}: {len(row)} fields instead of {fields}: fetch it again."
            )
        yield row


def number_in(text: str, path: Path) -> int:
    """Return the number in a field; raise an error that names the file if it is none.

    >>> number_in("17", Path("nodes.tsv"))
    17
    """
    try:
        return int(text)
    except ValueError as error:
        raise DataError(f"{path}: {text!r} is no number: fetch it again.") from error


def _lines(path: Path) -> Iterable[str]:
    if path.suffix == ".xz":
        yield from read_lines(path)
    else:
        with path.open(encoding="utf-8") as lines:
            yield from lines


COUNTS_NOTE = (
    "Which words are columns was chosen over the texts of all classes, later ones included; a "
    "node's row depends on its own text alone (1 + log of its counts, no inverse document "
    "frequencies)."
)


def read_counts(texts: Iterable[str], columns: int) -> "csr_array[Any]":
    """Return a sparse matrix with a row for each text of ``column:count`` pairs.

    >>> read_counts(["0:2 2:1", ""], 3).toarray().tolist()
    [[2.0, 0.0, 1.0], [0.0, 0.0, 0.0]]

    Args:
        texts: Pairs of each node, separated by spaces.
    """
    # Plain lists of some million numbers would take ten times the memory.
    words, counts, ends = array("q"), array("q"), array("q", [0])
    for text in texts:
        for pair in text.split():
            word, _, count = pair.partition(":")
            if not (word.isdecimal() and count.isdecimal()):
                raise DataError(f"{pair!r} is no column:count pair: fetch the file again.")
            words.append(int(word))
            counts.append(int(count))
        ends.append(len(words))
    places = np.array(words, dtype=np.int64)
    values = np.array(counts, dtype=np.float32)
    if places.size and not (places.max() < columns and values.min() >= 1):
        raise DataError(
            f"Columns must be 0 to {columns - 1} and counts at least 1: these words and counts do "
            "not belong together, or a file was damaged; fetch both again."
        )
    return csr_array((values, places, np.array(ends)), shape=(len(ends) - 1, columns))


def weighted_counts(counts: "csr_array[Any]") -> "csr_array[Any]":
    """Entries 1 + log(count), rows of length 1: a word said ten times counts little more than one.

    >>> weighted_counts(csr_array([[9.0, 0.0], [0.0, 1.0]])).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    weights = (1 + np.log(counts.data)).astype(np.float32)
    logged = csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)
    return csr_array(normalise_rows(logged))


class TypedEdge(NamedTuple):
    """One edge as the raw file has it."""

    source: int
    """The number of the node it starts from."""

    target: int
    """The number of the node it points to."""

    kind: str
    """What joins the two."""

    is_directed: bool
    """Whether it matters which of the two is the source."""


def read_typed_edges(path: Path, kinds: Mapping[str, bool]) -> Iterator[TypedEdge]:
    """One edge a line: source, target, kind.

    Args:
        kinds: Every kind it may name -> whether its edges have a direction.
    """
    for source, target, kind in read_rows(path, 3):
        if kind not in kinds:
            raise DataError(
                f"{path} has an edge of kind {kind!r}, known are {', '.join(kinds)}: it is of "
                "another version than this parser."
            )
        yield TypedEdge(number_in(source, path), number_in(target, path), kind, kinds[kind])


@dataclass(frozen=True, slots=True)
class NumberedNode:
    """One node: only ``text`` becomes features, never its number or its class."""

    key: int
    """Its number."""

    label: str
    """Its class."""

    text: str
    """What is said of it, in whatever form the raw file has."""


def typed_graph(
    nodes: Sequence[NumberedNode], features: Matrix, edges: Iterable[TypedEdge]
) -> tuple[Graph, NodeLabels]:
    """Rows in the order given; edges of absent nodes are passed over.

    >>> nodes = [NumberedNode(7, "x", ""), NumberedNode(3, "y", "")]
    >>> edges = [TypedEdge(3, 7, "a", True), TypedEdge(7, 3, "b", True), TypedEdge(3, 9, "a", True)]
    >>> graph, labels = typed_graph(nodes, np.eye(2), edges)
    >>> graph.keys_of([0, 1]), graph.relations, graph.num_edges, labels.classes
    ([7, 3], ('a', 'b'), 1, ('x', 'y'))
    """
    keys = NodeKeys(np.array([node.key for node in nodes], dtype=np.int64))
    by_kind: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    for edge in edges:
        kind = edge.kind, edge.is_directed
        by_kind.setdefault(kind, []).append((edge.source, edge.target))
    graph = Graph.from_parts(
        keys,
        features,
        {
            name: adjacency_between(keys, np.array(by_kind[name, directed]), directed)
            for name, directed in sorted(by_kind)
        }
        or adjacency_between(keys, np.zeros((0, 2), dtype=np.int64)),
    )
    return graph, NodeLabels.from_names(node.label for node in nodes)


def adjacency_between(keys: NodeKeys, ends: NDArray[np.int64], directed: bool = False) -> Adjacency:
    """The edges both of whose ends are there.

    Args:
        directed: Whether the first number is where the edge starts.
    """
    rows = keys.find(ends.ravel()).reshape(ends.shape)
    rows = rows[(rows >= 0).all(axis=1)]
    return by_rows(rows[:, 0], rows[:, 1], len(keys), None, directed)
