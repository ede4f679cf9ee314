"""The file nodegraft.toml, directed edge types, globs and delimiters on the command line."""

import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from nodegraft.store.store import Store
from tests.cli.test_keys import call


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
    assert "exists already" in call(
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
    call("sync", folder / "store", "--nodes", folder / "nodes.csv", "--edges", folder / "edges.csv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[tables]\nkeys = "id"\n', "unknown option 'keys'"),
        ("[tables]\nkey = 7\n", "key has a value of the wrong type, 7"),
        ("[tables\n", "cannot be read"),
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
