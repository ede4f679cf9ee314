"""Ways in which nodes of other types, which have no features and no labels, can help ``graft``.

    python -m studies.node_types --data DIR     # measure what is missing, then write the table
    python -m studies.node_types                # write the table again

Nodes of other types (*connectors*): source packages and virtual names for debian, virtual packages
for gentoo. On :mod:`studies.inner_streams`, arrival
``present``, after the last session. Writes ``studies/records/node-types.json``, stream by stream,
and ``docs/explanation/node-types-measured.md``.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack
from studies.inner_streams import OTHER, inner_data
from studies.record_file import PAGES, Record

import nodegraft as ng
from nodegraft.analysis.rendering.table import Table
from nodegraft.graph import statistics
from nodegraft.graph.edges.matrix import placed_rows
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.node_types import qualified
from nodegraft.graph.view import GraphView
from nodegraft.lab.datasets.debian import PACKAGES, Debian, names_in, source_of
from nodegraft.lab.datasets.gentoo import CACHE, FIELDS, Gentoo, package_in
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.lab.datasets.templates.readers import read_stanzas
from nodegraft.lab.report.tables import percent
from nodegraft.methods.graft import Graft
from studies import record_file

RECORDS = record_file.FOLDER / "node-types.json"
GRAPHS = ("gentoo", "debian")
WAYS = (
    "none",
    "pairs",
    "zeros",
    "ordinary nodes",
    "means",
    "zeros, equal weights",
    "zeros, no diffusion",
    "zeros, only diffusion",
)
"""No connectors; an edge for each pair of nodes with the same connector; connectors as nodes, with
features 0 or the means of their neighbours. Edge types to connectors are weighed by the homophily
of the nodes that they join, or like the mean edge type; diffusion or all else may ignore them."""

MOST_MEMBERS = 50
"""Connectors with more nodes give no pairs: their number grows with the square of the nodes."""

Links = Mapping[str, set[tuple[str, str]]]
"""Pairs of a node's key and a connector's name, by edge type."""


def main() -> None:
    """Measure what is missing if data is given, and write the table."""
    options = record_file.parser(__doc__, seeds=3, graphs=GRAPHS).parse_args()
    if options.data:
        wanted = product(options.graphs, range(options.seeds), WAYS)

        def measured(data: LoadedDataset, seed: int, way: str) -> Record:
            return measured_stream(data, LINKS[data.name](options.data), seed, way)

        names = ("graph", "seed", "way")
        record_file.measure_missing(RECORDS, names, wanted, options.data, measured)
    (PAGES / "node-types-measured.md").write_text(page_text(record_file.read(RECORDS)))


def measured_stream(data: LoadedDataset, links: Links, seed: int, way: str) -> Record:
    """Teach the classes of a stream in which connectors are visible, and measure accuracy.

    Args:
        data: The graph and its labels.
        links: Links between nodes and connectors.
        seed: Of the stream.
        way: How connectors are used.
    """
    used = data if way == "none" else replace(data, **with_connectors(data, links, way))
    inner = inner_data(used, seed)
    if way == "means":
        inner = replace(inner, graph=with_mean_features(inner.graph))
    stream = inner.stream(seed=seed + OTHER, arrival="present")
    sessions = list(stream)
    last, model = sessions[-1], Graft(seed=seed)
    with heat_of_connectors(way), equal_weights(way.endswith("equal weights")):
        model.fit(sessions[0].view, stream.curriculum)
        for session in sessions[1:]:
            model.add_classes(session.view, session.support)
        rows = last.query.rows()
        scores = model.score_rows(last.view, rows)
    targets = last.query.targets(model.classes_)
    correct, is_new = scores.argmax(axis=1) == targets, targets >= len(stream.split.train)

    def accuracy(chosen: Any) -> float:
        return float(
            np.mean([correct[targets == name].mean() for name in np.unique(targets[chosen])])
        )

    return {
        "nodes": used.graph.num_nodes,
        "edges": used.graph.num_edges,
        "weights": {name: round(weight, 3) for name, weight in model.kinds_.items()},
        "all": round(accuracy(targets >= 0), 4),
        "known": round(accuracy(~is_new), 4),
        "new": round(accuracy(is_new), 4),
    }


def with_connectors(data: LoadedDataset, links: Links, way: str) -> dict[str, Any]:
    """Return graph and groups of a dataset that is joined by connectors.

    Args:
        data: The dataset.
        links: Links between nodes and connectors.
        way: How connectors are used; one of :data:`WAYS`.
    """
    graph, edges = data.graph, relations_of(data.graph)
    have = set(graph.keys_of(graph.rows))
    members = {
        name: grouped((key, other) for key, other in pairs if key in have)
        for name, pairs in links.items()
    }
    if way == "pairs":
        edges |= {name: pairs_of(linked) for name, linked in members.items()}
        return {
            "graph": ng.Graph(graph.key_array_of(graph.rows), graph.features(graph.rows), edges)
        }
    several = {
        name: {other: keys for other, keys in linked.items() if len(keys) > 1}
        for name, linked in members.items()
    }
    others = sorted({other for linked in several.values() for other in linked})
    for name, linked in several.items():
        edges[f"node:{name}:{CONNECTOR}"] = Relation(
            [
                (key, qualified(other, CONNECTOR, TYPES))
                for other, keys in linked.items()
                for key in keys
            ]
        )
    features = csr_array(graph.features(graph.rows))
    nothing = csr_array((len(others), features.shape[1]), dtype=features.dtype)
    rows = csr_array(vstack([features, nothing], format="csr"), dtype=features.dtype)
    names = [qualified(other, CONNECTOR, TYPES) for other in others]
    groups = data.groups
    if groups is not None:
        groups = np.concatenate([groups, groups.max() + 1 + np.arange(len(others))])
    keys = [*graph.keys_of(graph.rows), *names]
    recipe = None if way == "ordinary nodes" else Connected()
    return {"graph": ng.Graph(keys, rows, edges, recipe=recipe), "groups": groups}


CONNECTOR = "connector"
TYPES = ("node", CONNECTOR)


class Connected:
    """Recipe of features that were given as they are, of a graph with connectors."""

    content_hash = ""
    num_features = 0
    node_types = TYPES


def with_mean_features(graph: ng.Graph) -> ng.Graph:
    """Return a graph in which connectors have the mean features of their neighbours."""
    rows = np.setdiff1d(graph.rows, graph.targets)
    counts, neighbours = graph.neighbours(rows)
    ends = np.concatenate(([0], np.cumsum(counts)))
    shares = np.repeat(1.0 / np.maximum(counts, 1), counts)
    mean = csr_array((shares, neighbours, ends), shape=(rows.size, graph.num_nodes))
    features = csr_array(graph.features(graph.rows))
    means = csr_array(mean @ features, dtype=features.dtype)
    # The features of connectors are 0 so far.
    return graph.with_features(features + placed_rows(means, rows, graph.num_nodes))


def relations_of(graph: ng.Graph) -> dict[str, Relation]:
    """Return the edges of a graph by type, as pairs of keys."""
    keys, edges = graph.key_array_of(graph.rows), {}
    for name in graph.relations:
        source, target, weights = graph.edges_of(name)
        pairs = np.stack([keys[source], keys[target]], axis=1)
        edges[name] = Relation(pairs, weights=weights, directed=graph.is_directed(name))
    return edges


def grouped(pairs: Iterator[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the keys of the nodes of each connector."""
    groups = defaultdict[str, list[str]](list)
    for key, other in sorted(pairs):
        groups[other].append(key)
    return groups


def pairs_of(groups: Mapping[str, Sequence[str]]) -> Relation:
    """Return an edge for each pair of nodes with the same connector.

    Its weight is the number of their connectors, each divided by the other nodes that it has.
    """
    weights = defaultdict[tuple[str, str], float](float)
    for keys in groups.values():
        if 1 < len(keys) <= MOST_MEMBERS:
            for at, first in enumerate(keys):
                for second in keys[at + 1 :]:
                    weights[first, second] += 1.0 / (len(keys) - 1)
    return Relation(list(weights), weights=np.array(list(weights.values())))


@contextmanager
def heat_of_connectors(way: str) -> Iterator[None]:
    """Let only diffusion see edges to connectors, or everything except diffusion."""
    weighing = GraphView.weighing

    def without(view: GraphView, weights: Mapping[str, float]) -> GraphView:
        none = {
            name: 0.0 if name.endswith(CONNECTOR) else weight for name, weight in weights.items()
        }
        plain, whole = weighing(view, none), weighing(view, weights)
        if way == "zeros, no diffusion":
            plain, whole = whole, plain
        plain.diffusion = whole.diffusion  # type: ignore[method-assign]
        return plain

    if way in ("zeros, only diffusion", "zeros, no diffusion"):
        GraphView.weighing = without  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        GraphView.weighing = weighing  # type: ignore[method-assign]


@contextmanager
def equal_weights(equal: bool) -> Iterator[None]:
    """Weigh edge types to connectors like the mean edge type."""
    joins = statistics.joins_types
    if equal:
        statistics.joins_types = lambda view, relation: False
    try:
        yield
    finally:
        statistics.joins_types = joins


def links_of_debian(folder: str) -> Links:
    """Return the source package of each package, and virtual names provided or needed."""
    links: dict[str, set[tuple[str, str]]] = {"source": set(), "virtual": set()}
    stanzas = list(read_stanzas(Debian().locate(folder)[PACKAGES]))
    virtual = {name for stanza in stanzas for name in names_in(stanza.get("Provides", ""))}
    virtual -= {stanza["Package"] for stanza in stanzas}
    for stanza in stanzas:
        key = stanza["Package"]
        links["source"].add((key, f"source {source_of(stanza)}"))
        for field in ("Provides", "Pre-Depends", "Depends", "Recommends", "Suggests"):
            for name in names_in(stanza.get(field, "")):
                if name in virtual:
                    links["virtual"].add((key, f"virtual {name}"))
    return links


def links_of_gentoo(folder: str) -> Links:
    """Return the virtual packages that each package needs, or that need it."""
    links = set()
    for stanza in read_stanzas(Gentoo().locate(folder)[CACHE]):
        key = stanza["Package"]
        for token in " ".join(stanza.get(field, "") for field in FIELDS).split():
            name = package_in(token) or ""
            if name.startswith("virtual/") and not key.startswith("virtual/"):
                links.add((key, name))
            elif name and key.startswith("virtual/"):
                links.add((name, key))
    return {"virtual": links}


LINKS: dict[str, Callable[[str], Links]] = {
    "debian": links_of_debian,
    "gentoo": links_of_gentoo,
}


def page_text(records: Sequence[Record]) -> str:
    """Return a table with a row for each graph and way; differences are paired by seed."""
    found = {(record["graph"], record["way"], record["seed"]): record for record in records}
    rows = []
    for graph, way in product(GRAPHS, WAYS):
        some = record_file.matching(records, graph=graph, way=way)
        if not some:
            continue
        first = [found[graph, "none", record["seed"]] for record in some]
        gains = [
            [own[part] - other[part] for own, other in zip(some, first, strict=True)]
            for part in ("all", "known", "new")
        ]
        cells = ["–"] * 3 if way == "none" else [percent(gain, signed=True) for gain in gains]
        mean = f"{100 * np.mean([record['all'] for record in some]):.1f}"
        sizes = [f"{some[0][part]:,}" for part in ("nodes", "edges")]
        rows.append([graph, way, *sizes, str(len(some)), mean, *cells])
    heads = ["graph", "connecting nodes", "nodes", "edges", "seeds", "accuracy"]
    heads += ["gain, all classes", "gain, known", "gain, new"]
    return f"<!-- Written by studies/node_types.py. -->\n\n{Table.of(heads, rows).markdown()}\n"


if __name__ == "__main__":
    main()
