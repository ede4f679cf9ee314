"""A store whose graph lies on disk: the same answers, and only what came is written."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from nodegraft.analysis.version import Version
from nodegraft.base.errors import CheckpointError, ParameterError, StoreError
from nodegraft.base.files import array_file
from nodegraft.cli.app import app
from nodegraft.graph.disk.blocks.encode import propagate
from nodegraft.graph.disk.mapped import MappedStore
from nodegraft.graph.graph import Graph
from nodegraft.store.intent import Intent
from nodegraft.store.objects.states import States
from nodegraft.store.store import Store
from nodegraft.tables.node_texts import NodeTexts
from nodegraft.tables.storage import load_graph
from tests.store.on_disk import CLASSES, FORMS, joined, labels_of, made, rows

forms = pytest.mark.parametrize("form", FORMS)


def expect_same(mapped: Store, memory: Store, version: int | None = None) -> None:
    """Answers about all nodes are the same, bit for bit."""
    one, other = (store.predict(version=version) for store in (mapped, memory))
    assert (one.nodes, one.predictions) == (other.nodes, other.predictions)
    np.testing.assert_array_equal(one.probabilities, other.probabilities)
    np.testing.assert_array_equal(one.known, other.known)


def size_of(store: Store) -> int:
    """Of all its objects, in bytes."""
    return sum(file.stat().st_size for file in (store.place / "objects").iterdir())


@forms
def test_it_answers_as_one_in_memory_does(form: str, tmp_path: Path) -> None:
    mapped, memory = made(tmp_path, form), made(tmp_path, form, mapped=False)
    assert mapped.graph().is_on_disk
    for store in (mapped, memory):
        store.add(labels_of(4, 5, count=5), intent=Intent(promote=True))
    assert mapped.live == 2
    expect_same(mapped, memory)
    assert mapped.version().measures == memory.version().measures
    assert mapped.explain("p100") == memory.explain("p100")
    assert mapped.suggest(5) == memory.suggest(5)


def test_files_are_linked_and_outlive_the_folder_they_were_built_in(tmp_path: Path) -> None:
    store = made(tmp_path)
    built = {file.stat().st_ino for file in (tmp_path / "graph").glob("*.npy")}
    assert built <= {file.stat().st_ino for file in (store.place / "objects").iterdir()}
    answers = store.predict().predictions
    (tmp_path / "graph").rename(tmp_path / "gone")
    asked = (
        "import sys; from nodegraft.store.store import Store; "
        "print(*Store.open(sys.argv[1]).predict().predictions, sep='\\n')"
    )
    command = [sys.executable, "-c", asked, str(store.place)]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert told.stdout.splitlines() == answers


def test_layers_that_were_worked_out_come_along(tmp_path: Path) -> None:
    made(tmp_path)
    graph = load_graph(tmp_path / "graph")
    propagate(graph, 2)
    store = Store.init(tmp_path / "second", graph, labels_of(0, 1))
    layers = store.graph().layer_folder()
    assert layers is not None
    assert layers.layer(2) is not None
    assert layers.place.is_relative_to(store.place)


def test_opening_reads_no_large_array_and_tells_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if all arrays were larger than what is compared when it is mapped.
    monkeypatch.setattr(array_file, "CHECKED_BYTES", 0)
    store = made(tmp_path)
    files = store.parts.objects.paths(store.version().graph)
    # Whatever stands there: a graph is opened by types, sizes and last offsets alone.
    files["features.data"].chmod(0o644)
    with files["features.data"].open("r+b") as file:
        file.seek(-4, 2)
        file.write(b"\0\0\0\1")
    graph = Store.open(store.place).graph()
    with pytest.raises(CheckpointError, match="is damaged"):
        graph._store.verify()  # type: ignore[attr-defined]
    files["keys.rows"].unlink()
    with pytest.raises(CheckpointError, match="is missing"):
        Store.open(store.place).predict(["p1"])


def test_it_is_refused_where_objects_are_behind_a_url(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="objects on this machine"):
        made(tmp_path, objects="memory://mapped/objects")


def test_the_command_takes_what_was_built(tmp_path: Path) -> None:
    made(tmp_path)
    known = [(key, name) for name, keys in labels_of(0, 1, 2).items() for key in keys]
    table = pa.table({"id": [key for key, _ in known], "label": [name for _, name in known]})
    pa.parquet.write_table(table, tmp_path / "labels.parquet")
    given = [str(tmp_path / "s"), "--labels", str(tmp_path / "labels.parquet"), "--key", "id"]
    built = ["--graph", str(tmp_path / "graph")]
    refused = CliRunner().invoke(app, ["init", *given, *built, "--text", "words"])
    assert refused.exit_code == 2
    assert "omit --nodes" in refused.output
    assert "--graph FOLDER" in CliRunner().invoke(app, ["init", *given]).output
    done = CliRunner().invoke(app, ["init", *given, *built])
    assert done.exit_code == 0, done.output
    asked = CliRunner().invoke(app, ["predict", str(tmp_path / "s"), "--nodes", "p0"])
    assert "class 0" in asked.output


def grown(store: Store, first: int, count: int) -> Version:
    """With some more nodes, each joined to two of its class."""
    new = range(first, first + count)
    ends = [(one, one % CLASSES + CLASSES * place) for one in new for place in (3, 7)]
    return store.grow(rows(new), joined(ends))


@forms
def test_growing_writes_what_came_and_answers_as_in_memory(form: str, tmp_path: Path) -> None:
    mapped, memory = made(tmp_path, form), made(tmp_path, form, mapped=False)
    whole = size_of(mapped)
    for first in (600, 602):
        versions = [grown(store, first, 2) for store in (mapped, memory)]
        assert versions[0].detail == versions[1].detail
        assert versions[0].measures == versions[1].measures
    assert size_of(mapped) - whole < whole / 4
    store = mapped.graph()._store
    assert isinstance(store, MappedStore)
    assert store.growth
    store.verify()
    again = Store.open(mapped.place)
    assert again.graph().is_on_disk
    assert again.graph().layer_folder() is None
    assert not memory.graph().is_on_disk
    assert again.graph().content_hash == memory.graph().content_hash
    expect_same(again, memory, version=3)
    again.add(labels_of(4, 5, count=5))
    memory.add(labels_of(4, 5, count=5))
    expect_same(again, memory, version=4)


@pytest.mark.parametrize("mapped", [True, False])
def test_what_is_kept_knows_what_it_grew_from(
    mapped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the report on a growth works out no more than what came."""
    store, kept, put_graph = made(tmp_path, mapped=mapped), list[Graph](), States.put_graph

    def watched(self: States, graph: Graph, parent: Graph | None = None) -> Graph:
        kept.append(put_graph(self, graph, parent))
        return kept[-1]

    monkeypatch.setattr(States, "put_graph", watched)
    before = store.graph()
    # A view knows of edges once somebody has asked.
    before.degrees(before.rows)
    grown(store, 600, 2)
    (graph,) = kept
    growth = graph.growth_since(before)
    assert growth is not None
    assert set(growth.touched.tolist()) >= {600, 601}


@pytest.mark.parametrize("came", ["edges", "nodes", "a new kind"])
def test_growing_by_one_of_them(came: str, tmp_path: Path) -> None:
    form = "lists of kinds"
    mapped, memory = made(tmp_path, form), made(tmp_path, form, mapped=False)
    nodes = rows([600]) if came == "nodes" else None
    edges = None if came == "nodes" else joined([(3, 8), (3, 9), (599, 20)])
    if edges is not None and came == "a new kind":
        edges = edges.set_column(2, "kind", [["returned"] * 3])
    versions = [store.grow(nodes, edges) for store in (mapped, memory)]
    assert versions[0].detail == versions[1].detail
    assert versions[0].measures == versions[1].measures
    again = Store.open(mapped.place)
    assert again.graph().relations == memory.graph().relations
    assert again.graph().content_hash == memory.graph().content_hash
    expect_same(again, memory, version=2)


@forms
def test_a_graph_that_has_grown_much_is_written_whole(form: str, tmp_path: Path) -> None:
    mapped, memory = made(tmp_path, form), made(tmp_path, form, mapped=False)
    for one in (mapped, memory):
        grown(one, 600, 2)
        grown(one, 602, 150)
    store = mapped.graph()._store
    assert isinstance(store, MappedStore)
    assert not store.growth
    store.verify()
    expect_same(Store.open(mapped.place), memory, version=3)
    assert not list((mapped.place / "derived").glob("unfinished-*"))


@forms
def test_whole_tables_are_built_on_disk(form: str, tmp_path: Path) -> None:
    mapped, memory = made(tmp_path, form), made(tmp_path, form, mapped=False)
    grown(mapped, 600, 2)
    grown(memory, 600, 2)
    today = rows([*range(3, 590), 601, 700])
    ends = joined([(one, one + CLASSES) for one in range(3, 580)] + [(700, 4), (601, 7)])
    versions = [
        store.sync(today, ends, intent=Intent(override="a test")) for store in (mapped, memory)
    ]
    assert versions[0].detail == versions[1].detail
    assert versions[0].detail["labels_lost"] == 3
    assert mapped.graph().is_on_disk
    expect_same(Store.open(mapped.place), memory, version=3)


def test_texts_beside_it_grow_and_are_not_lost(tmp_path: Path) -> None:
    texts = NodeTexts.of(f"text of {number}" for number in range(600))
    store = made(tmp_path, texts=texts)
    grown(store, 600, 1)
    assert store.texts(["p0", "p600"])[0] == "text of 0"
    assert store.texts(["p600"])[0] == rows([600])["words"][0].as_py()
    with pytest.raises(StoreError, match="sync would lose them"):
        store.sync(rows(range(300)))


@forms
def test_a_purge_writes_all_but_the_node(form: str, tmp_path: Path) -> None:
    mapped, memory = made(tmp_path, form), made(tmp_path, form, mapped=False)
    for store in (mapped, memory):
        grown(store, 600, 2)
        store.purge(["p601", "p8"])
    assert mapped.version().measures == memory.version().measures
    expect_same(Store.open(mapped.place), memory, version=mapped.newest)
    held = [file.read_bytes() for file in mapped.place.rglob("*") if file.is_file()]
    assert not [content for content in held if b"p601" in content]


def test_an_undone_growth_is_gone_and_pruning_keeps_what_others_need(tmp_path: Path) -> None:
    store = made(tmp_path)
    answers = store.predict().predictions
    grown(store, 600, 2)
    store.undo()
    assert store.version().graph == store.version(1).graph
    assert store.predict(version=store.newest).predictions == answers
    before = size_of(store)
    store.grow(rows([800]), joined([(800, 2)]), intent=Intent(promote=True))
    store.prune(1)
    # The files that were built are shared by all versions.
    assert size_of(store) < before
    again = Store.open(store.place)
    assert again.predict().predictions[:600] == store.predict().predictions[:600]
    again.graph()._store.verify()  # type: ignore[attr-defined]
    assert again.drift(again.live, again.newest)
