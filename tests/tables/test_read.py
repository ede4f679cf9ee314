import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from nodegraft.base.errors import DataError, MissingColumnError, ParameterError, TablesError
from nodegraft.graph.edges.entries import OUT
from nodegraft.graph.graph import Graph
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.labels import read_labels
from nodegraft.tables.read import grow_graph, grow_tables, read_graph, read_tables
from tests.graph.reference import dense, everyone

Columns = dict[str, Any]
Write = Callable[[str, Columns], Path]

NODES = {"key": ["a", "b", "c"], "label": [1, 2, 1], "price": [1.5, 2, 3], "weight": [4, 5, 6]}
EDGES = {"source": ["a", "b"], "target": ["b", "c"]}


@pytest.fixture(params=["parquet", "csv"])
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Write:
    """Write columns as a file of either kind."""

    def written(name: str, columns: Columns) -> Path:
        path = tmp_path / f"{name}.{request.param}"
        writer = {"parquet": pa.parquet.write_table, "csv": pa.csv.write_csv}[request.param]
        writer(pa.table(columns), path)
        return path

    return written


@pytest.fixture
def parquet(tmp_path: Path) -> Write:
    def written(name: str, columns: Columns) -> Path:
        pa.parquet.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
        return tmp_path / f"{name}.parquet"

    return written


@pytest.fixture
def csv(tmp_path: Path) -> Callable[[str, str], Path]:
    def written(name: str, text: str) -> Path:
        (tmp_path / f"{name}.csv").write_text(text)
        return tmp_path / f"{name}.csv"

    return written


def edges_by_key(graph: Graph) -> list[list[Any]]:
    return [graph.keys_of(pair) for pair in zip(*graph.edges(), strict=True)]


def rows(graph: Graph) -> list[list[float]]:
    found: list[list[float]] = dense(graph.features(everyone(graph))).tolist()
    return found


def expect_numbers(graph: Graph, numbers: Any) -> None:
    """Each column from its mean in standard deviations; NaN is the mean."""
    values = np.array(numbers, dtype=np.float64)
    spread = np.nanstd(values, axis=0)
    scaled = (values - np.nanmean(values, axis=0)) / np.where(spread > 0, spread, 1)
    np.testing.assert_allclose(rows(graph), np.nan_to_num(scaled), atol=1e-6)


def test_number_columns_become_features(write: Write) -> None:
    files = write("nodes", NODES), write("edges", EDGES)
    tables = read_tables(*files, features=["weight", "price"])
    expect_numbers(tables.graph, [[4, 1.5], [5, 2], [6, 3]])
    assert edges_by_key(tables.graph) == [["a", "b"], ["b", "c"]]
    report = tables.report
    assert (report.nodes, report.edges, report.features, report.findings) == (3, 2, 2, ())
    expect_numbers(read_graph(*files, features="price"), [[1.5], [2], [3]])


def test_columns_may_have_other_names(write: Write) -> None:
    nodes = write("nodes", {"id": [7, 9], "x": [True, False]})
    edges = write("edges", {"from": [9], "to": [7]})
    graph = read_tables(nodes, edges, key="id", source="from", target="to", features=["x"]).graph
    assert edges_by_key(graph) == [[7, 9]]
    assert rows(graph) == [[1], [-1]]


def test_no_column_is_ever_guessed_to_be_a_feature(write: Write) -> None:
    with pytest.raises(DataError, match=r"has no column 'features'; .* key, label, price, weight"):
        read_tables(write("nodes", NODES), write("edges", EDGES))
    graph = read_tables(
        write("nodes", {**NODES, "features": [7, 8, 9]}), write("edges", EDGES)
    ).graph
    expect_numbers(graph, [[7], [8], [9]])


@pytest.mark.parametrize(
    ("kind", "stored"),
    [
        (pa.list_(pa.float64()), np.float32),
        (pa.list_(pa.float16()), np.float16),
        (pa.list_(pa.int64()), np.float32),
        (pa.large_list(pa.float32()), np.float32),
        (pa.list_(pa.float32(), 2), np.float32),
    ],
    ids=str,
)
def test_a_list_column_becomes_features(parquet: Write, kind: Any, stored: type) -> None:
    lists = np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float16)
    column = pa.array([list(row) for row in lists], pa.list_(pa.float16())).cast(kind)
    nodes = parquet("nodes", {"key": NODES["key"], "features": column})
    graph = read_tables(nodes, parquet("edges", EDGES)).graph
    assert rows(graph) == lists.tolist()
    assert graph._features.dtype == stored


@pytest.mark.parametrize("lists", [[[1.0], [1.0, 2.0], [3.0]], [["x"], ["y"], ["z"]]])
def test_lists_that_are_no_rows_are_refused(parquet: Write, lists: list[Any]) -> None:
    nodes = parquet("nodes", {"key": NODES["key"], "features": lists})
    with pytest.raises(DataError, match=r"column 'features' of .* must h"):
        read_tables(nodes, parquet("edges", EDGES))


def test_a_missing_list_is_zeros_and_told(parquet: Write) -> None:
    nodes = parquet("nodes", {"key": NODES["key"], "features": [[1.0, 2.0], None, [3.0, 4.0]]})
    tables = read_tables(nodes, parquet("edges", EDGES))
    assert rows(tables.graph) == [[1, 2], [0, 0], [3, 4]]
    assert tables.report.count("nodes without a list in 'features', treated as zeros") == 1


def test_text_becomes_features(write: Write) -> None:
    texts = ["red hats", "red shoes", None]
    nodes = write("nodes", {"key": NODES["key"], "words": texts})
    tables = read_tables(nodes, write("edges", EDGES), text="words", min_documents=1)
    recipe = tables.graph.recipe
    assert isinstance(recipe, FeatureRecipe)
    assert recipe.feature_names == ["hats", "red", "shoes"]
    lengths = np.linalg.norm(rows(tables.graph), axis=1)
    np.testing.assert_allclose(lengths, [1, 1, 0], atol=1e-6)
    assert "whose text is missing" in str(tables.report)
    with pytest.raises(DataError, match="lower min_documents"):
        read_tables(write("nodes", NODES), write("edges", EDGES), text="price")


def test_text_and_numbers_and_categories_all_count(write: Write) -> None:
    """Once, ``text=`` put ``features=`` aside without a word."""
    columns = {**NODES, "words": ["red hats", "red shoes", "blue"], "brand": ["x", "y", "x"]}
    graph = read_graph(
        write("nodes", columns),
        write("edges", EDGES),
        text="words",
        features=["price"],
        categories="brand",
        min_documents=1,
    )
    assert isinstance(graph.recipe, FeatureRecipe)
    names = graph.recipe.feature_names
    assert names == ["blue", "hats", "red", "shoes", "price", "brand=x", "brand=y"]
    parts = np.split(np.array(rows(graph)), [4, 5], axis=1)
    for part in parts:
        np.testing.assert_allclose((part**2).sum(axis=1).mean(), 1.0, rtol=1e-5)


def test_tables_may_be_in_memory() -> None:
    nodes, edges = pa.table(NODES), pa.table(EDGES)
    graph = read_graph(nodes, edges, features=["price", "weight"])
    expect_numbers(graph, [[1.5, 4], [2, 5], [3, 6]])
    labels = read_labels(nodes, graph)
    assert {name: keys.tolist() for name, keys in labels.items()} == {"1": ["a", "c"], "2": ["b"]}
    with pytest.raises(DataError, match=r"table of nodes must be the path .* int was given"):
        read_graph(7)
    assert read_graph(nodes, features="price").num_edges == 0


def test_new_nodes_are_read_as_the_old_ones_were(write: Write) -> None:
    """200 new rows once made columns of their own."""
    old: Columns = {
        "key": ["a", "b", "c"],
        "words": ["red hats", "red shoes", "blue"],
        "price": [1, 2, 3],
    }
    graph = read_graph(
        write("nodes", old), write("edges", EDGES), text="words", features="price", min_documents=1
    )
    new: Columns = {"key": ["d", "e"], "words": ["green hats", "red red"], "price": [2.0, 9.0]}
    more = {"source": ["d", "e"], "target": ["a", "d"]}
    grown = grow_graph(graph, write("new", new), write("more", more))
    assert grown.recipe == graph.recipe
    assert rows(grown)[:3] == rows(graph)
    assert grown.keys_of(range(5)) == ["a", "b", "c", "d", "e"]
    assert edges_by_key(grown) == [["a", "b"], ["a", "d"], ["b", "c"], ["d", "e"]]
    at_once = read_graph(
        write("all", {name: [*old[name], *new[name]] for name in old}),
        write("edges", EDGES),
        recipe=graph.recipe,
    )
    np.testing.assert_allclose(rows(grown), rows(at_once))
    with pytest.raises(ParameterError, match="says which columns"):
        read_graph(write("nodes", old), recipe=graph.recipe, text="words")


def test_growth_that_does_not_fit_is_refused(write: Write) -> None:
    graph = read_graph(write("nodes", NODES), write("edges", EDGES), features="price")
    twice = write("new", {"key": ["a", "d"], "price": [1, 2]})
    with pytest.raises(DataError, match=r"has already, .* \(for example row 1: a\)"):
        grow_graph(graph, twice)
    assert grow_graph(graph, twice, repair=True).keys_of([3]) == ["d"]
    lost = write("more", {"source": ["a"], "target": ["nobody"]})
    with pytest.raises(DataError, match="not in the table of nodes"):
        grow_graph(graph, edges=lost)
    assert grow_graph(graph, edges=write("more", {"source": ["a"], "target": ["c"]})).num_edges == 3
    with pytest.raises(DataError, match=r"not read from tables, .* graph\.grow"):
        grow_graph(small_graph(), twice)
    with pytest.raises(DataError, match="has no column 'price'"):
        grow_graph(graph, write("new", {"key": ["d"]}))


ODD_NODES = {
    "key": ["a", "b", "b", "c", "d", "e", "b"],
    "price": [1.0, 2.0, 9.0, np.nan, np.inf, 5.0, 8.0],
    "weight": [1, 2, 9, 3, 4, None, 8],
}
ODD_EDGES = {
    "source": ["a", "b", "a", "c", "x", "b", "a", None],
    "target": ["b", "a", "b", "c", "y", "z", "c", "a"],
}
ODD_REPORT = """\
         5  nodes
         2  undirected edges
         2  features
         2  rows with a node key seen before, column 'key' of nodes \
(for example row 3: b, row 7: b) -> the first row of each is kept
         1  node with infinite numbers, column 'price' of nodes \
(for example row 5: d) -> treated as missing
         2  nodes with missing numbers, replaced by the column's mean \
(for example row 4: c, row 6: e)
         3  edges to nodes that are not in the table of nodes, columns 'source' and \
'target' of edges (for example row 5: x–y, row 6: b–z, row 8: (nothing)–a) \
-> dropped
         2  nodes without any edge
         2  edges given more than once or in both directions, merged
         1  edge from a node to itself, dropped"""


def test_everything_odd_is_counted_and_refused(write: Write) -> None:
    files = write("nodes", ODD_NODES), write("edges", ODD_EDGES)
    with pytest.raises(DataError) as caught:
        read_tables(*files, features=["price", "weight"])
    head, report = str(caught.value).split("\n", 1)
    assert head.startswith(
        "The tables have errors; correct them, or do what is shown behind -> with"
    )
    assert head.endswith(" repair=True (--repair):")
    assert without_endings(report) == ODD_REPORT


def without_endings(report: str) -> str:
    return report.replace(".parquet", "").replace(".csv", "")


def test_repair_does_what_the_report_says(write: Write) -> None:
    files = write("nodes", ODD_NODES), write("edges", ODD_EDGES)
    tables = read_tables(*files, features=["price", "weight"], repair=True)
    assert tables.graph.keys_of(range(5)) == ["a", "b", "c", "d", "e"]
    nan = np.nan
    expect_numbers(tables.graph, [[1, 1], [2, 2], [nan, 3], [nan, 4], [5, nan]])
    assert edges_by_key(tables.graph) == [["a", "b"], ["a", "c"]]
    assert without_endings(str(tables.report)) == ODD_REPORT


@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        ({"key": [1, 1, 2], "x": [1, 1, 1]}, {"source": [1], "target": [2]}),
        ({"key": [1, 2], "x": [1, np.inf]}, {"source": [1], "target": [2]}),
        ({"key": [1, 2], "x": [1, 1]}, {"source": [1, 1], "target": [2, 3]}),
        ({"key": [1, 2], "x": [1, 1]}, {"source": [1, 1], "target": [2, None]}),
    ],
    ids=["duplicate key", "infinite", "unknown end", "missing end"],
)
def test_each_fault_alone_is_enough_to_refuse(write: Write, nodes: Columns, edges: Columns) -> None:
    files = write("nodes", nodes), write("edges", edges)
    with pytest.raises(DataError, match="have errors"):
        read_tables(*files, features=["x"])
    tables = read_tables(*files, features=["x"], repair=True)
    assert tables.graph.keys_of([0, 1]) == [1, 2]
    assert edges_by_key(tables.graph) == [[1, 2]]
    assert [finding.count for finding in tables.report.blocking] == [1]


def test_oddities_that_do_no_harm_are_only_told(write: Write) -> None:
    nodes = write("nodes", {"key": [1, 2, 3], "x": [1, 1, 1]})
    edges = write("edges", {"source": [1, 2, 1], "target": [2, 1, 1]})
    report = read_tables(nodes, edges, features=["x"]).report
    assert report.blocking == ()
    assert report.count("nodes without any edge") == 1
    assert report.count("edges given more than once or in both directions, merged") == 1
    assert report.count("edges from a node to itself, dropped") == 1
    assert report.count("something else") == 0


TYPED = {
    "source": ["a", "b", "a", "b", "c"],
    "target": ["b", "a", "c", "c", "a"],
    "kind": ["cites", "cites", "like", "like", "like"],
    "worth": [1.0, 2.0, 0.5, 4.0, 3.0],
}
KINDS: Columns = {"edge_type": "kind", "edge_weight": "worth"}


def kinds_of(graph: Graph) -> dict[str, list[tuple[Any, ...]]]:
    """The edges of each kind by key, with their weights; where they lead if they lead one way."""
    found = {}
    for name in graph.relations:
        rows, columns, weights, ways = graph._store.adjacency(name).entries()
        shown = np.flatnonzero(rows < columns if ways is None else ways & OUT)
        ends = graph.keys_of(rows[shown]), graph.keys_of(columns[shown])
        parts = ends if weights is None else (*ends, weights[shown].tolist())
        found[name] = list(zip(*parts, strict=True))
    return found


# Whether there are directions -> what is read; both ways of a pair share one weight, the larger.
CITES = {False: [("a", "b", 2.0)], True: [("a", "b", 2.0), ("b", "a", 2.0)]}
LIKE = {
    False: [("a", "c", 3.0), ("b", "c", 4.0)],
    True: [("a", "c", 3.0), ("b", "c", 4.0), ("c", "a", 3.0)],
}


@pytest.mark.parametrize(
    ("directed", "cites", "like"),
    [
        (False, False, False),
        (True, True, True),
        (["cites"], True, False),
        ("like", False, True),
        ({"like", "cites"}, True, True),
        ([], False, False),
    ],
)
def test_edges_have_kinds_weights_and_directions(
    write: Write, directed: Any, cites: bool, like: bool
) -> None:
    files = write("nodes", NODES), write("edges", TYPED)
    tables = read_tables(*files, features="price", **KINDS, directed=directed)
    graph = tables.graph
    assert graph.relations == ("cites", "like")
    assert [graph.is_directed(name) for name in graph.relations] == [cites, like]
    assert kinds_of(graph) == {"cites": CITES[cites], "like": LIKE[like]}
    merged = "edges given more than once or in both directions, merged"
    assert tables.report.count(merged) == (not cites) + (not like)
    assert tables.report.edges == 3


def test_kinds_and_weights_may_come_alone(write: Write) -> None:
    files = write("nodes", NODES), write("edges", TYPED)
    graph = read_graph(*files, features="price", edge_type="kind")
    assert kinds_of(graph) == {"cites": [("a", "b")], "like": [("a", "c"), ("b", "c")]}
    graph = read_graph(*files, features="price", edge_weight="worth", directed=True)
    edges = [("a", "b", 2.0), ("a", "c", 3.0), ("b", "a", 2.0), ("b", "c", 4.0), ("c", "a", 3.0)]
    assert kinds_of(graph) == {"edges": edges}


def test_numbers_may_name_kinds(write: Write) -> None:
    edges = write("edges", {**EDGES, "kind": [2, 10]})
    graph = read_graph(write("nodes", NODES), edges, features="price", edge_type="kind")
    assert kinds_of(graph) == {"10": [("b", "c")], "2": [("a", "b")]}


ODD_KINDS = {
    "source": ["a", "a", "b", "c", "a", "b"],
    "target": ["b", "c", "c", "a", "b", "c"],
    "kind": ["x", None, "x", "y", "x", "y"],
}
ODD_WEIGHTS = [1.0, 1.0, 0.0, -2.0, None, 5.0]


def test_edges_without_kind_or_weight_are_told_and_dropped(write: Write) -> None:
    files = write("nodes", NODES), write("edges", {**ODD_KINDS, "worth": ODD_WEIGHTS})
    with pytest.raises(DataError) as caught:
        read_tables(*files, features="price", **KINDS)
    report = str(caught.value)
    assert "1  edge without an edge type, column 'kind' of edges." in report
    assert "3  edges whose weight is missing, infinite or not positive, column 'worth'" in report
    assert "(for example row 3: 0.0, row 4: -2.0, row 5: nan) -> dropped" in report
    tables = read_tables(*files, features="price", **KINDS, repair=True)
    assert kinds_of(tables.graph) == {"x": [("a", "b", 1.0)], "y": [("b", "c", 5.0)]}
    assert [finding.count for finding in tables.report.blocking] == [1, 3]


@pytest.mark.parametrize("weight", [np.inf, -np.inf, np.nan, 1e39, 1e-60, 0])
def test_a_weight_that_is_none_is_refused(parquet: Write, weight: float) -> None:
    edges = parquet("edges", {**EDGES, "worth": [1.0, weight]})
    nodes, options = parquet("nodes", NODES), {"features": "price", "edge_weight": "worth"}
    with pytest.raises(DataError, match="1  edge whose weight is missing, infinite or not"):
        read_graph(nodes, edges, **options)
    graph = read_graph(nodes, edges, **options, repair=True)
    assert kinds_of(graph) == {"edges": [("a", "b", 1.0)]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({**KINDS, "directed": ["cite"]}, "no edge type 'cite' .* are cites, like"),
        ({**KINDS, "directed": "cite"}, "no edge type 'cite' .* are cites, like"),
        ({"directed": ["cites"]}, "no edge type 'cites' .* are edges"),
        ({"edge_type": "type"}, "has no column 'type'; its columns are source, target, kind"),
        ({"edge_weight": "weight"}, "has no column 'weight'"),
        ({"edge_weight": "kind"}, "'kind' of .* must hold numbers"),
    ],
)
def test_kinds_that_cannot_be_used_say_why(write: Write, options: Columns, message: str) -> None:
    files = write("nodes", NODES), write("edges", TYPED)
    with pytest.raises(DataError, match=message):
        read_graph(*files, features="price", **options)


@pytest.mark.parametrize("kind", [pa.string(), pa.null()])
def test_a_table_without_edges_has_no_kinds(kind: Any) -> None:
    none = pa.array([], kind)
    edges = pa.table({"source": none, "target": none, "kind": none, "worth": pa.array([], "f8")})
    graph = read_graph(pa.table(NODES), edges, features="price", **KINDS)
    assert (graph.relations, graph.num_edges) == (("edges",), 0)


def test_kinds_grow(write: Write) -> None:
    files = write("nodes", NODES), write("edges", TYPED)
    graph = read_graph(*files, features="price", **KINDS, directed=["cites"])
    new = write("new", {"key": ["d"], "price": [4.0]})
    more: Columns = {
        "source": ["d", "d", "a"],
        "target": ["a", "b", "c"],
        "kind": ["cites", "sells", "like"],
        "worth": [7.0, 8.0, 1.0],
    }
    grown = grow_graph(graph, new, write("more", more), **KINDS)
    assert kinds_of(grown) == {
        "cites": [*CITES[True], ("d", "a", 7.0)],
        "like": LIKE[False],
        "sells": [("b", "d", 8.0)],
    }
    plain = {name: more[name] for name in ("source", "target")}
    with pytest.raises(DataError, match=r"edge types cites, like: give the type"):
        grow_graph(graph, new, write("more", plain))
    assert kinds_of(grow_graph(graph, new)) == kinds_of(graph)
    with pytest.raises(DataError, match="1  edge whose weight is missing"):
        grow_graph(graph, new, write("more", {**more, "worth": [1.0, 2.0, 0.0]}), **KINDS)


def test_one_kind_grows_without_a_name(write: Write) -> None:
    files = write("nodes", NODES), write("edges", {**EDGES, "kind": ["cites", "cites"]})
    graph = read_graph(*files, features="price", edge_type="kind", directed=True)
    grown = grow_graph(graph, edges=write("more", {"source": ["c"], "target": ["a"]}))
    assert kinds_of(grown) == {"cites": [("a", "b"), ("b", "c"), ("c", "a")]}


def test_large_integers_keep_every_digit_as_keys(write: Write) -> None:
    keys = [2**53, 2**53 + 1, 2**62]
    nodes = write("nodes", {"key": keys, "x": [2**24 + 1, 2**40, 3]})
    edges = write("edges", {"source": [keys[1], None], "target": [keys[2], keys[0]]})
    graph = read_tables(nodes, edges, features=["x"], repair=True).graph
    assert graph.keys_of(range(3)) == keys
    assert edges_by_key(graph) == [[keys[1], keys[2]]]
    expect_numbers(graph, [[2**24], [2**40], [3]])


def test_csv_keys_are_read_as_those_of_the_nodes_are(csv: Callable[[str, str], Path]) -> None:
    nodes = csv("nodes", "key,x\n007,1\n8,2\nx,3\n")
    edges = csv("edges", "source,target\n007,8\n")
    graph = read_tables(nodes, edges, features=["x"]).graph
    assert edges_by_key(graph) == [["007", "8"]]
    labels = read_labels(csv("labels", "key,label\n8,01\n007,\n"), graph)
    assert {name: keys.tolist() for name, keys in labels.items()} == {"01": ["8"]}


def test_dictionary_columns_are_read_as_what_they_stand_for(parquet: Write) -> None:
    nodes = parquet("nodes", {**NODES, "key": pa.array(NODES["key"]).dictionary_encode()})
    edges = parquet("edges", {"source": pa.array(["a"]).dictionary_encode(), "target": ["b"]})
    graph = read_tables(nodes, edges, features=["price"]).graph
    assert edges_by_key(graph) == [["a", "b"]]


def test_edges_may_be_none(write: Write) -> None:
    nodes = write("nodes", NODES)
    for kind in (pa.string(), pa.null()):
        none = pa.array([], kind)
        edges = write("edges", {"source": none, "target": none})
        report = read_tables(nodes, edges, features=["price"]).report
        assert (report.edges, report.count("nodes without any edge")) == (0, 3)


@pytest.mark.parametrize(
    ("nodes", "edges", "options", "message"),
    [
        (
            {"key": pa.array([], pa.string()), "price": pa.array([], pa.float64())},
            EDGES,
            {},
            "The table of nodes is empty",
        ),
        (NODES, EDGES, {"key": "id"}, "has no column 'id'; its columns are key, label, price"),
        (NODES, EDGES, {"source": "from"}, r"edges\.\w+ has no column 'from'; .* source, target"),
        (NODES, EDGES, {"features": ["price", "size"]}, "has no column 'size'"),
        (NODES, EDGES, {"text": "words"}, "has no column 'words'"),
        (NODES, EDGES, {"features": ["key"]}, "'key' of .* must hold numbers .* text='key'"),
    ],
)
def test_tables_that_cannot_be_used_say_why(
    write: Write, nodes: Columns, edges: Columns, options: Columns, message: str
) -> None:
    files = write("nodes", nodes), write("edges", edges)
    with pytest.raises(DataError, match=message):
        read_tables(*files, **{"features": ["price"], **options}, repair=True)


@pytest.mark.parametrize("option", ["label", "label_key"])
def test_a_label_column_that_is_no_name_is_refused(option: str) -> None:
    options: dict[str, Any] = {option: {"a": 1}}
    with pytest.raises(ParameterError, match=f"{option} must be text"):
        read_tables(NODES, EDGES, {"key": ["a"], "label": ["x"]}, **options)


def test_keys_of_the_other_type_are_refused(
    parquet: Write, csv: Callable[[str, str], Path]
) -> None:
    with pytest.raises(DataError, match=r"text or integers .* holds double, 0"):
        read_tables(parquet("nodes", {**NODES, "key": [1.5, 2.5, 3.5]}), features="price")
    nodes = parquet("nodes", NODES)
    with pytest.raises(DataError, match=r"'source' of .* holds int64, but .* keys .* are text"):
        read_tables(nodes, parquet("edges", {"source": [1], "target": ["b"]}), features=["price"])


def test_files_that_cannot_be_read_say_why(tmp_path: Path, parquet: Write) -> None:
    nodes = parquet("nodes", NODES)
    broken, empty = tmp_path / "broken.parquet", tmp_path / "empty.csv"
    broken.write_bytes(nodes.read_bytes()[:100])
    empty.touch()
    (tmp_path / "folder").mkdir()
    for path, message in (
        (tmp_path / "none.csv", r"There is no file .*none\.csv"),
        (tmp_path / "nodes.xlsx", r"nodes\.xlsx must end in \.parquet or \.csv or \.csv\.gz"),
        (tmp_path / "folder", r"no \.parquet file in the folder"),
        (tmp_path / "n*.csv", r"No file matches .*n\*\.csv"),
        (broken, r"broken\.parquet cannot be read"),
        (empty, r"empty\.csv cannot be read"),
    ):
        with pytest.raises(DataError, match=message):
            read_tables(path, nodes)
        with pytest.raises(DataError, match=message):
            read_tables(nodes, path, features=["price"])


def test_letters_that_are_no_utf8_name_file_and_column(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes.csv"
    nodes.write_bytes("key,words\na,caf\xe9\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"nodes\.csv .* 'words': .* convert the file to UTF-8"):
        read_graph(nodes, text="words")
    nodes.write_bytes("key,words\ncaf\xe9,a\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"nodes\.csv .* 'key': .* convert the file to UTF-8"):
        read_graph(nodes, text="words")
    column = pa.array([b"ok", b"caf\xe9"], pa.binary())
    raw = pa.Array.from_buffers(pa.string(), 2, column.buffers())
    pa.parquet.write_table(pa.table({"key": ["a", "b"], "words": raw}), tmp_path / "n.parquet")
    with pytest.raises(DataError, match=r"'words' of .*n\.parquet .* not UTF-8, first in row 2"):
        read_graph(tmp_path / "n.parquet", text="words", min_documents=1)


def test_all_problems_are_told_at_once(csv: Callable[[str, str], Path]) -> None:
    nodes = csv("nodes", "key,price\na,1\nb,cheap\n,3\na,4\nd,inf\n")
    edges = csv("edges", "source,target,worth\na,b,1\na,x,2\nb,d,-1\n")
    labels = csv("labels", "key,label\na,one\nz,one\nb, two\na,two\n")
    options: Any = {"features": "price", "edge_weight": "worth"}
    with pytest.raises(DataError) as caught:
        read_tables(nodes, edges, labels, **options)
    for line in (
        "rows with a node key seen before".replace("rows", "row")
        + ", column 'key' of nodes.csv (for example row 4: a)",
        "row without a node key, column 'key' of nodes.csv (for example row 3)",
        "number, column 'price' of nodes.csv (for example row 2: 'cheap') -> treated as missing",
        "infinite numbers, column 'price' of nodes.csv (for example row 5: d)",
        "columns 'source' and 'target' of edges.csv (for example row 2: a–x)",
        "not positive, column 'worth' of edges.csv (for example row 3: -1.0)",
        "not in the table of nodes, column 'key' of labels.csv (for example row 2: z)",
        "begins or ends with a blank, column 'label' of labels.csv (for example row 3: ' two')",
        "nodes with another class, column 'key' of labels.csv (for example row 4: a)",
    ):
        assert line in str(caught.value), line
    tables = read_tables(nodes, edges, labels, **options, repair=True)
    assert tables.graph.keys_of(tables.graph.rows) == ["a", "b", "d"]
    assert tables.labels is not None
    assert {name: keys.tolist() for name, keys in tables.labels.items()} == {
        "one": ["a"],
        "two": ["b"],
    }


def test_all_missing_columns_are_told_at_once(csv: Callable[[str, str], Path]) -> None:
    nodes, edges = csv("nodes", "key,price\na,1\n"), csv("edges", "from,target\na,a\n")
    with pytest.raises(DataError) as caught:
        read_tables(nodes, edges, features=["size", "weight"])
    assert [line for line in ("'size'", "'weight'", "'source'") if line in str(caught.value)] == [
        "'size'",
        "'weight'",
        "'source'",
    ]


def small_graph() -> Graph:
    return Graph(["a", "b", "c", "d"], np.eye(4))


def test_labels_are_read_by_key_and_sorted_by_name(write: Write) -> None:
    path = write("labels", {"key": ["d", "b", "a"], "label": ["y", "x", "y"], "more": [1, 2, 3]})
    labels = read_labels(path, small_graph())
    assert list(labels) == ["x", "y"]
    assert [keys.tolist() for keys in labels.values()] == [["b"], ["d", "a"]]


def test_rows_without_a_label_are_skipped(write: Write) -> None:
    columns = {"id": ["d", "unknown", "a"], "kind": ["x", None, "NA"]}
    labels = read_labels(write("labels", columns), small_graph(), key="id", label="kind")
    assert {name: keys.tolist() for name, keys in labels.items()} == {"x": ["d"], "NA": ["a"]}


def test_integer_labels_become_names(write: Write) -> None:
    labels = read_labels(
        write("labels", {"key": [2, 1, 3], "label": [10, 9, None]}), Graph([1, 2, 3], np.eye(3))
    )
    assert {name: keys.tolist() for name, keys in labels.items()} == {"10": [2], "9": [1]}


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ({"key": ["z", "a"], "label": ["x", "x"]}, DataError, "not in the table .*row 1: z"),
        ({"key": [None, "a"], "label": ["x", "x"]}, DataError, "not in the table .*row 1: None"),
        (
            {"key": ["a", "a"], "label": ["x", "y"]},
            DataError,
            r"nodes with another class, column 'key' of labels\.\w+ \(for example row 2: a\)",
        ),
        ({"key": ["a"], "label": [" "]}, DataError, "name is only blanks, column 'label' of"),
        ({"key": ["a"], "class": ["x"]}, DataError, "has no column 'label'"),
    ],
)
def test_labels_that_fit_no_node_are_refused(
    write: Write, columns: Columns, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        read_labels(write("labels", columns), small_graph())


def test_numbers_that_differ_in_their_last_digits_differ_as_features() -> None:
    times = [1_700_000_000 + place for place in range(60)]
    recipe = FeatureRecipe.fit(pa.table({"time": times}), features="time")
    rows = recipe.transform(pa.table({"time": times}))
    assert np.allclose(dense(rows)[:, 0], (np.arange(60) - 29.5) / np.arange(60).std())


def test_the_order_of_rows_makes_no_other_recipe() -> None:
    draws = np.random.default_rng(0)
    table = pa.table(
        {
            "price": draws.random(200),
            "weight": 1e6 * draws.random(200),
            "about": [" ".join(draws.choice(["red", "blue", "hat"], 5)) for _ in range(200)],
        }
    )

    def fitted(rows: Any) -> FeatureRecipe:
        return FeatureRecipe.fit(table.take(rows), features=["price", "weight"], text="about")

    recipe = fitted(np.arange(200))
    assert all(fitted(draws.permutation(200)) == recipe for _ in range(20))


def test_a_category_of_digits_is_the_same_in_every_csv_file(tmp_path: Path) -> None:
    (tmp_path / "monday.csv").write_text("key,zip\n007,01234\np2,05678\n")
    (tmp_path / "tuesday.csv").write_text("key,zip\n008,01234\n")
    (tmp_path / "wednesday.csv").write_text("key,zip\n009,K1A\n010,01234\n")
    graph = read_graph(tmp_path / "monday.csv", categories="zip")
    for day in ("tuesday", "wednesday"):
        graph = grow_graph(graph, tmp_path / f"{day}.csv")
    wanted = graph.features(graph.rows_of(["007"]))
    for key in ("008", "010"):
        assert (dense(graph.features(graph.rows_of([key]))) == dense(wanted)).all()


def test_growing_by_known_nodes_only_is_told(parquet: Write) -> None:
    table = {"key": ["a", "b"], "about": ["red hat", "blue hat"]}
    graph = read_graph(pa.table(table), text="about", min_documents=1)
    with pytest.raises(DataError, match="nodes that the graph has already"):
        grow_graph(graph, pa.table(table))
    assert grow_graph(graph, pa.table(table), repair=True).num_nodes == 2


def test_nan_is_missing_wherever_text_is_read() -> None:
    values = pa.table({"key": ["a", "b"], "kind": [1.0, float("nan")]})
    graph = read_graph(values, categories="kind")
    assert graph.recipe is not None
    assert graph.num_features == 1
    renamed = values.rename_columns(["key", "class"])
    assert list(read_labels(renamed, graph, label="class")) == ["1"]


def test_a_column_name_twice_is_told() -> None:
    twice = pa.table([pa.array(["a"]), pa.array([1.0]), pa.array([2.0])], names=["key", "x", "x"])
    with pytest.raises(DataError, match="has 2 columns called 'x'"):
        read_graph(twice, features="x")


def test_column_names_that_are_not_utf8_are_told(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_bytes("key,größe\na,1\n".encode("latin-1"))
    with pytest.raises(DataError, match="names of its columns are not UTF-8"):
        read_graph(tmp_path / "nodes.csv", features="x")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_documents": 0}, "min_documents must be a whole number at least 1"),
        ({"min_documents": 0.5}, "min_documents must be"),
        ({"stop_words": "german"}, "stop_words must be one of 'english' or none"),
        ({"repair": "no"}, "repair must be true or false"),
        ({"text": (), "recipe": "x"}, "A recipe is a"),
        ({"encoder": "wordllama", "min_documents": 2}, "tfidf, which is not used here"),
        ({"encoder": "wordllama", "stop_words": "english"}, "tfidf, which is not used here"),
        ({"text": (), "features": None, "min_documents": 2}, "tfidf, which is not used here"),
        ({"text": (), "recipe": FeatureRecipe((), ()), "stop_words": "english"}, "not used here"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    table = pa.table({"key": ["a", "b"], "about": ["red hat", "blue hat"]})
    with pytest.raises(ParameterError, match=message):
        read_graph(table, **{"text": "about", **options})


def test_lists_that_are_all_empty_are_told() -> None:
    empty = pa.table({"key": ["a"], "x": pa.array([[]], pa.list_(pa.float32()))})
    with pytest.raises(DataError, match="all empty"):
        read_graph(empty, features="x")


def test_missing_files_are_listed_at_once() -> None:
    with pytest.raises(DataError, match=r"(?s)3 problems:.*no\.csv.*edges\.csv.*labels\.csv"):
        read_tables("no.csv", "edges.csv", "labels.csv")


def test_wrong_types_and_wrong_rows_are_listed_at_once() -> None:
    nodes = pa.table({"key": ["a", "b", "b"], "x": ["?", "?", "?"], "y": [[1], [2], [3]]})
    edges = pa.table({"source": ["a", "a"], "target": ["b", "z"], "w": ["?", "?"]})
    labels = pa.table({"key": ["q"], "label": ["hats"]})
    with pytest.raises(TablesError) as error:
        read_tables(nodes, edges, labels, features="x", categories="y", edge_weight="w")
    told = str(error.value)
    for part in ("'x'", "'y'", "'w'", "key seen before", "label of nodes that are"):
        assert re.search(part, told), told
    # Over HTTP the same is told without the advice that names arguments of Python.
    assert "text='x'" in told
    assert "text='x'" not in error.value.what_happened
    assert "'x'" in error.value.what_happened


def test_all_problems_of_new_tables_are_listed_at_once() -> None:
    nodes = pa.table({"key": ["a", "b"], "x": [1.0, 2.0]})
    graph = read_graph(nodes, features="x")
    new = pa.table({"key": ["a", "c"], "x": ["?", "?"]})
    edges = pa.table({"source": ["z"], "target": ["a"]})
    with pytest.raises(TablesError, match=r"(?s)'x'.*graph has already.*not in the table of nodes"):
        grow_tables(graph, new, edges)
    with pytest.raises(MissingColumnError, match=r"(?s)'x'.*'target'"):
        grow_tables(graph, new.drop(["x"]), edges.drop(["target"]))
