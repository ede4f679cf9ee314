"""The file nodegraft.toml, directed edge types, globs and delimiters on the command line."""

import tomllib
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from nodegraft.cli.table_config import TableConfig
from nodegraft.store.store import Store
from nodegraft.tables.files import as_toml
from tests.cli.test_keys import call
from tests.service.served import asked


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    keys = [f"p{number}" for number in range(24)]
    rows = [f"{key};{int(place < 12)};{place}" for place, key in enumerate(keys)]
    (tmp_path / "nodes.csv").write_text("\n".join(["id;e1;e2", *rows, ""]))
    kinds = ["cites", "like"]
    links = [f"{a};{b};{kinds[place % 2]}" for place, (a, b) in enumerate(pairwise(keys))]
    (tmp_path / "edges.csv").write_text("\n".join(["from;to;kind", *links, ""]))
    labels = [f"{key};{'ab'[place // 12]}" for place, key in enumerate(keys)]
    (tmp_path / "labels.csv").write_text("\n".join(["node;class", *labels, ""]))
    (tmp_path / "more.csv").write_text("id;e1;e2\nq1;1;1\n")
    return tmp_path


def tables(folder: Path) -> list[str]:
    return [f"--{name}={folder / name}.csv" for name in ("nodes", "edges", "labels")]


OPTIONS = (
    *("--key", "id", "--source", "from", "--target", "to", "--type", "kind"),
    *("--label", "class", "--label-key", "node", "--features", "e*", "--directed-types", "cites"),
)


def test_what_init_was_told_is_written_and_read_again(folder: Path) -> None:
    said = call("init", folder / "one", *tables(folder), *OPTIONS, "--write-config")
    assert "Wrote" in said
    written = tomllib.loads((folder / "nodegraft.toml").read_text())["tables"]
    assert written["key"] == "id"
    assert (written["key_type"], written["features"]) == ("text", ["e*"])
    said = call("init", folder / "two", *tables(folder))
    assert "Read" in said
    assert "nodegraft.toml: key, key_type" in said
    with Store.open(folder / "one") as one, Store.open(folder / "two") as two:
        assert one.version().graph == two.version().graph
        graph = two.graph()
        assert graph.num_features == 2
        assert [graph.is_directed(kind) for kind in ("cites", "like")] == [True, False]
    # Options on the command line win.
    call("init", folder / "three", *tables(folder), "--features", "e1")
    with Store.open(folder / "three") as three:
        assert three.graph().num_features == 1
    assert "already exists" in call(
        "init", folder / "four", *tables(folder), "--write-config", code=2
    )


def test_later_tables_may_have_other_columns(folder: Path) -> None:
    call("init", folder / "store", *tables(folder), *OPTIONS)
    later = folder / "later"
    later.mkdir()
    (later / "more.csv").write_text("sku,e1,e2\nq1,1,1\n")
    (later / "nodegraft.toml").write_text('[tables]\nkey = "sku"\n')
    said = call("grow", folder / "store", "--nodes", later / "more.csv")
    assert "nodegraft.toml: key." in said
    with Store.open(folder / "store") as store:
        assert store.graph().keys_of([24]) == ["q1"]
    predict = ("predict", folder / "store", "--version=2", "--table", later / "more.csv")
    said = call(*predict)
    assert "nodegraft.toml: key." in said
    assert "unknown key" not in said
    assert "has no column 'key'" in call(*predict, "--key=key", code=2)
    call("sync", folder / "store", "--nodes", folder / "nodes.csv", "--edges", folder / "edges.csv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[tables]\nkeys = "id"\n', "unknown option 'keys'"),
        ("[tables]\nkey = 7\n", "key has a value of the wrong type: 7"),
        ("[tables\n", "cannot be read"),
        ("tables = 3\n", "has 'tables': its only section must be [tables]"),
        ('[table]\nkey = "id"\n', "has 'table': its only section must be [tables]"),
        ("[tables]\ntext = [1]\n", "text has a value of the wrong type: [1]"),
        ("[tables]\nsource = ['id']\n", "source has a value of the wrong type: ['id']"),
        ("[tables]\nmin_documents = true\n", "min_documents has a value of the wrong type: True"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(content: str, message: str, folder: Path) -> None:
    (folder / "nodegraft.toml").write_text(content)
    assert message in call("init", folder / "store", *tables(folder), code=2)


def test_directions_are_given_in_one_way(folder: Path) -> None:
    said = call("init", folder / "store", *tables(folder), *OPTIONS, "--directed", code=2)
    assert "--directed for all edges or --directed-types" in said
    graph = folder / "graph"
    edges = ("--source", "from", "--target", "to", "--type", "kind", "--directed-types", "cites")
    files = (folder / "nodes.csv", folder / "edges.csv")
    call("build", *files, "--out", graph, "--key", "id", "--features", "e?", *edges)


def test_an_option_beats_its_opposite_in_the_file(folder: Path) -> None:
    call("init", folder / "one", *tables(folder), *OPTIONS, "--write-config")
    call("init", folder / "two", *tables(folder), "--no-features", "--directed")
    with Store.open(folder / "two") as store:
        assert store.graph().num_features == 0
        assert store.graph().is_directed("like")
    place = folder / "nodegraft.toml"
    changed = place.read_text().replace('features = ["e*"]', "no_features = true")
    place.write_text(changed.replace('directed_types = "cites"', "directed = true"))
    call("init", folder / "three", *tables(folder), "--features=e1", "--directed-types=like")
    with Store.open(folder / "three") as store:
        graph = store.graph()
        assert graph.num_features == 1
        assert [graph.is_directed(kind) for kind in ("cites", "like")] == [False, True]


def test_names_of_columns_may_be_any_text(folder: Path) -> None:
    nodes = folder / "nodes.csv"
    nodes.write_text(nodes.read_text().replace("e1", "e\N{BICYCLE}"), encoding="utf-8")
    options = [*OPTIONS, "--features", "e\N{BICYCLE}"]
    call("init", folder / "one", *tables(folder), *options, "--write-config")
    call("init", folder / "two", *tables(folder))
    assert tomllib.loads(as_toml({"key": "\x7f\n\N{BICYCLE}"})) == {"key": "\x7f\n\N{BICYCLE}"}


def test_sync_and_grow_say_what_they_use(folder: Path) -> None:
    call("init", folder / "store", *tables(folder), *OPTIONS, "--write-config")
    place = folder / "nodegraft.toml"
    said = call("grow", folder / "store", "--nodes", folder / "more.csv", "--dry-run")
    assert "nodegraft.toml: key, source, target, edge_type." in said
    place.write_text(place.read_text().replace('key_type = "text"', 'key_type = "integer"'))
    more = ("grow", folder / "store", "--nodes", folder / "more.csv")
    assert "the keys of the store have type 'text'" in call(*more, code=2)


def test_the_file_of_parts_is_beside_their_folder(folder: Path) -> None:
    parts = folder / "parts"
    (parts / "below").mkdir(parents=True)
    table = pa.csv.read_csv(folder / "nodes.csv", parse_options=pa.csv.ParseOptions(delimiter=";"))
    pa.parquet.write_table(table, parts / "1.parquet")
    for given in (parts, parts / "*.parquet", parts / "**" / "*.parquet", f"{parts}/"):
        assert TableConfig.place_beside(str(given)) == folder / "nodegraft.toml"
    labels, edges = (f"--{name}={folder / name}.csv" for name in ("labels", "edges"))
    options = (labels, edges, *OPTIONS, "--write-config")
    call("init", folder / "one", "--nodes", f"{parts}/*.parquet", *options)
    assert "nodegraft.toml: key" in call("init", folder / "two", "--nodes", parts, labels, edges)


def test_a_delimiter_holds_for_all_tables_of_a_store(folder: Path) -> None:
    for place in folder.glob("*.csv"):
        place.write_text(place.read_text().replace(";", "#"))
    edges = ("--source", "from", "--target", "to", "--key", "id", "--delimiter", "#")
    files, built = (folder / "nodes.csv", folder / "edges.csv"), folder / "graph"
    call("build", *files, "--out", built, "--features", "e?", *edges)
    labels = ("--labels", folder / "labels.csv", "--label", "class", "--label-key", "node")
    store = folder / "store"
    call("init", store, "--graph", built, *labels, *edges)
    call("grow", store, "--nodes", folder / "more.csv")
    (folder / "new.csv").write_text("node#class\nq1#c\n")
    named = ("--labels", folder / "new.csv", "--label-key", "node", "--label", "class")
    call("add", store, *named, "--override", "test")
    (folder / "ask.csv").write_text("id#x\nq1#1\n")
    assert "c (label)" in call(
        "predict", store, "--table", folder / "ask.csv", "--key=id", "--version=3"
    )


def test_numbers_stay_numbers_in_later_tables(folder: Path) -> None:
    store = folder / "store"
    call("init", store, *tables(folder), *OPTIONS)
    more = folder / "more.csv"
    more.write_text("id;e1;e2\nq1;1;abc\nq2;2;def\n")
    said = call("grow", store, "--nodes", more, code=2)
    assert "2 nodes with a value that is not a number" in said
    assert "column 'e2' of more.csv" in said
    assert "row 1: 'abc'" in said
    call("grow", store, "--nodes", more, "--repair")
    more.write_text("sku;e1;e2\nq3;1;1\n")
    for command in ("grow", "sync"):
        said = call(command, store, "--nodes", more, code=2)
        assert "has no column 'id'; its columns are sku, e1, e2. The store was made" in said
        assert "key='id'" not in said
        assert "--no-features" not in said
    with asked(store) as client:
        rows = [{"id": "q1", "e1": 1, "e2": 1}]
        error = client.post("/v1/nodes", json={"nodes": rows}).json()["error"]
        assert "1 node that the graph has already" in " ".join(error["message"].split())
        assert "repair" not in str(error)
        error = client.post("/v1/nodes", json={"nodes": [{"e1": 1}]}).json()["error"]
        assert "has no column 'id'; its columns are e1." in error["message"]
        assert "has no column 'e2'; its columns are e1." in error["message"]
