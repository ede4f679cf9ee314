"""A node that must be forgotten: a search through every byte of the store finds nothing of it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from nodegraft.analysis.snapshot import first_state
from nodegraft.base.errors import NodegraftError, ParameterError, StoreError
from nodegraft.store.intent import Intent
from nodegraft.store.maintenance import pruning
from nodegraft.store.store import Store
from nodegraft.store.versions.journal import Journal
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.read import read_tables
from tests.store.small import made

KEY, WORD, BRAND = "person-4711", "zyzzyva", "solebrand"
NODES = [f"n{number}" for number in range(40)] + [KEY]
TEXTS = [f"{'felt brim wool' if number < 20 else 'sole lace heel'} item" for number in range(40)]
TABLE = pa.table(
    {
        "key": NODES,
        "text": [*TEXTS, f"felt brim {WORD}"],
        "brand": ["acme"] * 40 + [BRAND],
    }
)
EDGES = pa.table({"source": [*NODES[:-2], KEY, KEY], "target": [*NODES[1:-1], "n1", "n2"]})


def tabled(place: Path, database: str | None = None) -> Store:
    """A store whose versions, notes and reasons all name a node."""
    read = read_tables(TABLE, EDGES, text="text", categories="brand", min_documents=1)
    labels = {"hats": [*NODES[:14], KEY], "shoes": NODES[20:34]}
    store = Store.init(
        place,
        read.graph,
        labels,
        method="sgc-mean",
        texts=read.texts,
        intent=Intent(note=f"with {KEY}, of course", author="tests"),
        database=database,
    )
    store.unlabel([KEY], intent=Intent(note=f"{KEY} is none", override=f"{KEY} asked"))
    store.promote(intent=Intent(note=f"because of {KEY}"))
    store.label({"hats": [KEY]}, intent=Intent(override="a test"))
    return store


def found_in(place: Path, *words: str) -> set[str]:
    """Those of some words that a file of a folder has in it."""
    return {
        word
        for path in place.rglob("*")
        if path.is_file()
        for word in words
        if word.encode() in path.read_bytes()
    }


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with tabled(tmp_path / "s") as store:
        yield store


def test_no_byte_of_it_is_left(store: Store) -> None:
    place = store.place
    assert found_in(place, KEY, WORD, BRAND) == {KEY, WORD, BRAND}
    done = store.purge([KEY], intent=Intent(author="anna", note=f"asked by {KEY}"))
    assert found_in(place, KEY, WORD, BRAND) == set()
    store.close()
    assert found_in(place, KEY, WORD, BRAND) == set()
    assert (done.nodes, done.versions, done.new_versions, done.live) == (1, (1, 2, 3), (4, 5), 4)
    # All three versions and both promotions.
    assert done.rows == 5
    with Store.open(place) as again:
        assert (again.live, again.newest) == (4, 5)
        assert sorted(again.pruned()) == [1, 2, 3]
        history = again.history()
        assert history[0].note == "with [purged], of course"
        assert history[1].measures["override"] == "[purged] asked"
        assert history[1].detail == {"keys": []}
        assert (history[3].action, history[3].note) == ("purge", "asked by [purged]")
        assert KEY not in again.graph().node_keys.values()
        assert set(again.predict().predictions) == {"hats", "shoes"}


def test_others_are_answered_as_before(store: Store) -> None:
    others = NODES[:-1]
    wanted = store.predict(others).predictions
    store.purge([KEY])
    assert store.predict(others).predictions == wanted
    assert set(store.state().labels["hats"].all) == set(NODES[:14])
    # Words and values that nobody else has are no features any more.
    recipe = store.graph().recipe
    assert isinstance(recipe, FeatureRecipe)
    assert not {WORD, f"brand={BRAND}"} & set(recipe.feature_names)
    assert store.graph().num_features == len(recipe.feature_names)


def test_life_goes_on(store: Store) -> None:
    store.purge([KEY])
    new = pa.table({"key": ["m1"], "text": ["felt wool"], "brand": ["acme"]})
    store.grow(new, intent=Intent(promote=False))
    assert store.predict(["m1"], version=6).predictions == ["hats"]
    store.undo()
    with pytest.raises(StoreError, match="what it removed is deleted"):
        store.undo(4)
    with pytest.raises(StoreError, match="Version 2 was pruned"):
        store.undo(3)
    with pytest.raises(StoreError, match="was pruned"):
        store.rollback()


@pytest.mark.parametrize("nodes", [["n99"], [KEY, "n99"], ["n99", "n98"]])
def test_a_node_that_nothing_names_is_told(nodes: list[str], store: Store) -> None:
    with pytest.raises(StoreError, match="history entry of this store names 'n9"):
        store.purge(nodes)
    assert store.newest == 3
    assert store.pruned() == {}


def test_a_node_of_an_older_version_is_forgotten_too(tmp_path: Path) -> None:
    with tabled(tmp_path / "s") as store:
        left = TABLE.slice(0, 40)
        store.sync(left, EDGES.slice(0, 39), intent=Intent(promote=False))
        assert KEY not in store.graph().node_keys.values()
        store.purge([KEY])
        assert found_in(store.place, KEY, WORD, BRAND) == set()


def test_the_last_label_of_a_class_is_not_forgotten_unseen(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s")
    name, nodes = next(iter(new.items()))
    store.add({name: nodes[:1]}, intent=Intent(override="a test"))
    with pytest.raises(StoreError, match="use `remove`"):
        store.purge(nodes[:1])
    store.remove([name])
    store.promote(3)
    assert store.purge(nodes[:1]).new_versions == (4,)


def test_nodes_are_listed(store: Store) -> None:
    with pytest.raises(ParameterError, match="No node was given"):
        store.purge([])
    with pytest.raises(ParameterError, match="A list of nodes"):
        store.purge(KEY)
    with pytest.raises(NodegraftError):
        store.purge([[KEY]])  # type: ignore[list-item]


def test_what_is_known_of_classes_is_learned_anew(tmp_path: Path) -> None:
    """As if the node had never been there, first classes first."""
    store, new = made(tmp_path / "s", method="graft")
    store.add(new)
    store.promote()
    (gone,) = store.state().labels["class-00"].training[:1]
    graph = store.graph().without(store.graph().rows_of([gone]))
    first, last = (store.state(number).labels.unlabelled([gone]) for number in (1, 2))
    store.purge([gone])
    assert store.history()[-1].detail == {"nodes": 1, "instead_of": 2, "versions": [1, 2]}
    found, wanted = store.state(), first_state(graph, first, "graft", {}).relabelled(last)
    assert found.labels == wanted.labels
    np.testing.assert_array_equal(
        found.model.score_rows(found.graph, found.graph.rows),
        wanted.model.score_rows(graph, graph.rows),
    )


@pytest.mark.parametrize("added", [3, 1000], ids=["some", "always"])
def test_no_file_is_left_where_others_add_versions(
    added: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove, times = pruning._delete_in_batches, iter(range(added))

    def after_a_version(journal: Journal, *given: Any) -> Any:
        if next(times, None) is not None:
            newest = journal.version()
            journal.add(replace(newest, number=newest.number + 1, parent=newest.number))
        return remove(journal, *given)

    monkeypatch.setattr(pruning, "_delete_in_batches", after_a_version)
    store, _ = made(tmp_path / "s", objects=f"memory://purged-{added}/objects")
    with store:
        keys = store.graph().keys_of([200])
        if added == 1000:
            with pytest.raises(StoreError, match=r"Not all files are deleted: \d+ are left"):
                store.purge(keys)
            monkeypatch.setattr(pruning, "_delete_in_batches", remove)
            with pytest.raises(StoreError, match="it is complete now"):
                store.purge(keys)
        else:
            store.purge(keys)
        objects = store.parts.objects
        assert objects.files().keys() == objects.names_in(store.version().names.all)
