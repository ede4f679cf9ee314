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
    """Read raw files with a PyG dataset class, in a temporary folder with links to the files.

    PyG writes processed data beside the raw files, and the user's folder may be read-only.
    Therefore PyG works in a temporary folder, which is deleted afterwards.

    Args:
        folder: Folder in which PyG looks for raw files, relative to its root.
        make: PyG dataset class, called with its root folder.
    """
    with tempfile.TemporaryDirectory(prefix="nodegraft-") as root:
        raw = Path(root, folder)
        raw.mkdir(parents=True)
        for path in files:
            (raw / path.name).symlink_to(path.resolve())
        # Suppress the progress that PyG prints to standard error: a library should not print.
        with contextlib.redirect_stderr(io.StringIO()):
            return make(root)[0]


def numbered_graph(data: "Data", features: Matrix) -> Graph:
    """Return the graph of a PyG ``Data`` object, with row numbers as keys."""
    source, target = data.edge_index.numpy()
    count = features.shape[0]
    adjacency = Adjacency.from_edges(source, target, count)
    return Graph.from_parts(NodeKeys(np.arange(count)), features, adjacency)


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[str]:
    """Yield every line of an xz-compressed text file, including its line end."""
    try:
        with lzma.open(path, "rt", encoding=encoding) as lines:
            yield from lines
    except (lzma.LZMAError, EOFError) as error:
        raise DataError(
            f"{path} is truncated or not an .xz file ({error}): fetch it again."
        ) from error


def read_stanzas(path: Path) -> Iterator[dict[str, str]]:
    """Yield the stanzas of a file: blocks of ``Field: value`` lines separated by empty lines.

    Indented lines continue a value.

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
        # A line of spaces does not end the stanza: it continues a description.
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
    """Yield the tab-separated fields of every line; quotes have no special meaning.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "names.tsv")
    ...     _ = path.write_text('0\\ta "b\\n1\\t\\n')
    ...     list(read_rows(path, 2))
    [['0', 'a "b'], ['1', '']]

    Args:
        path: File to read; it must be xz-compressed if its name ends in ``.xz``.
    """
    for number, line in enumerate(_lines(path), start=1):
        row = line.rstrip("\n").split("\t")
        if len(row) != fields:
            raise DataError(
                f"{path}, line {number}: {len(row)} fields instead of {fields}: fetch it again."
            )
        yield row


def number_in(text: str, path: Path) -> int:
    """Parse the number in a field; raise an error that names the file if it is not a number.

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
    """
    # Use arrays: Python lists of some million numbers would need ten times as much memory.
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
    """Replace each count by 1 + log(count) and scale rows to length 1.

    A word that occurs ten times then weighs little more than a word that occurs once.

    >>> weighted_counts(csr_array([[9.0, 0.0], [0.0, 1.0]])).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    weights = (1 + np.log(counts.data)).astype(np.float32)
    logged = csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)
    return csr_array(normalise_rows(logged))


class TypedEdge(NamedTuple):
    """Edge of a raw file."""

    source: int
    """Number of the node at which the edge starts."""

    target: int
    """Number of the node to which the edge points."""

    kind: str
    """Edge type."""

    is_directed: bool
    """Whether the edge has a direction."""


def read_typed_edges(path: Path, kinds: Mapping[str, bool]) -> Iterator[TypedEdge]:
    """Yield an edge for each line of a file, which has source, target and edge type.

    Args:
        kinds: Allowed edge type -> whether its edges have a direction.
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
    """Node whose features are made from ``text`` only, never from its number or class."""

    key: int
    """Number of the node."""

    label: str
    """Class of the node."""

    text: str
    """Text or counts that describe the node, in the format of the raw file."""


def read_nodes(
    nodes: Path, classes: Path, node_fields: int, class_fields: int
) -> list[NumberedNode]:
    """Return a node for each line of a file; fields between number, class and text are not used.

    Args:
        nodes: File whose lines begin with the number of the node and of its class, and end with
            its text.
        classes: File whose lines begin with the number of a class, and end with its name.
        node_fields: Number of fields of each line of `nodes`.
        class_fields: Number of fields of each line of `classes`.
    """
    names = {
        number: " ".join(name.split()) for number, *_, name in read_rows(classes, class_fields)
    }
    return [
        NumberedNode(number_in(node, nodes), names[number], text)
        for node, number, *_, text in read_rows(nodes, node_fields)
    ]


def typed_graph(
    nodes: Sequence[NumberedNode], features: Matrix, edges: Iterable[TypedEdge]
) -> tuple[Graph, NodeLabels]:
    """Build a graph and labels, with rows in the order of `nodes`; skip edges of unknown nodes.

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
    """Build the adjacency matrix of the edges whose two ends are both known.

    Args:
        keys: Keys of the known nodes, in the order of rows.
        ends: Keys of the two ends of each edge, one row per edge.
        directed: Whether edges point from the first end to the second.
    """
    rows = keys.find(ends.ravel()).reshape(ends.shape)
    rows = rows[(rows >= 0).all(axis=1)]
    return by_rows(rows[:, 0], rows[:, 1], len(keys), None, directed)
