"""Random changes of stores with a class tree, one with node types, each of which is undone.

The method is `graft`, whose models do not depend on the order of changes, so that they are equal.
"""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.base.errors import NodegraftError
from nodegraft.graph.keys import Key
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from tests.property.strategies import thorough
from tests.slow_suite import examples
from tests.store.small import made
from tests.store.test_node_types import KEY, nodes, tables

NAMES = ("class-00", "class-01", "hats", "Schuhe für Füße", "鞋", "__proto__", "wear/all")
ANYWAY = Intent(override="a random change")

names = st.sampled_from(NAMES)
places = st.integers(0, 99)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tree") / "store"
    store, _ = made(place, method="graft")
    store.move({"class-00": "hats", "class-01": "hats", "hats": "wear/all"})
    store.close()
    return place


@pytest.fixture(scope="module")
def typed_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of products in carts, of the classes hats and shoes."""
    place = tmp_path_factory.mktemp("types") / "store"
    read = tables()
    assert read.labels is not None
    with Store.init(place, read.graph, read.labels, texts=read.texts, tables={"key": KEY}) as store:
        store.move({"hats": "wear/all"})
    return place


def some_change(draw: st.DrawFn, labels: StoreLabels, known: list[Key]) -> Change:
    """Return a change of classes; most of its names are in the tree."""
    classes = list(labels)
    every = st.sampled_from([*classes, *labels.groups])
    name, new = draw(st.sampled_from(classes)), draw(names)
    free = [node for node in known if node not in labels.owners()]
    keys = free[draw(places) : draw(places) + 100][:6]
    half = len(labels[name].all) // 2
    parts = {name: list(labels[name].all[:half]), new: list(labels[name].all[half:])}
    parent = draw(every | names)
    options: list[tuple[str, dict[str, Any]]] = [
        ("add", {"classes": {new: keys}, "parent": parent}),
        ("move", {"parents": {draw(every): draw(every | names | st.none())}}),
        ("rename", {"old": draw(every), "new": new}),
        ("merge", {"names": [name, draw(st.sampled_from(classes))], "into": draw(every | names)}),
        ("split", {"name": name, "parts": parts}),
        ("remove", {"names": [draw(every)]}),
    ]
    return Change(*draw(st.sampled_from(options))).with_forced_name()


def growth(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return tables of a new product, in an old cart and in a cart that may be new."""
    product, carts = f"p{draw(st.integers(60, 65))}", [f"c{draw(places)}", "c0"]
    return nodes(1, int(product[1:])), {
        "product:in:cart": {"sku": [product] * len(set(carts)), "cart": sorted(set(carts))}
    }


def objects(store: Store) -> tuple[str, ...]:
    return store.version().names.all


# Without the phase that makes a failing case smaller, which would take minutes.
@settings(thorough, max_examples=examples(1000, 6), phases=[Phase.generate])
@given(data=st.data())
def test_undo_gives_the_earlier_objects(template: Path, data: st.DataObject) -> None:
    check_undo(template, data, is_typed=False)


@settings(thorough, max_examples=examples(1000, 6), phases=[Phase.generate])
@given(data=st.data())
def test_undo_with_node_types_gives_the_earlier_objects(
    typed_template: Path, data: st.DataObject
) -> None:
    check_undo(typed_template, data, is_typed=True)


def check_undo(template: Path, data: st.DataObject, *, is_typed: bool) -> None:
    with TemporaryDirectory() as folder:
        place = shutil.copytree(template, Path(folder) / "store")
        with Store.open(place) as store:
            made_versions = [(store.newest, objects(store))]
            for _ in range(data.draw(st.integers(2, 5))):
                state = store.state(store.newest)
                known = state.graph.keys_of(state.graph.targets)
                change = data.draw(st.composite(some_change)(state.labels, known))
                grown = data.draw(st.composite(growth)() if is_typed else st.none())
                try:
                    if grown and data.draw(st.booleans()):
                        number = store.grow(*grown).number
                    else:
                        number = store.change(change, intent=ANYWAY).number
                except NodegraftError:
                    assert store.newest == made_versions[-1][0]
                    continue
                made_versions.append((number, objects(store)))
                tree = store.state(number).labels.tree
                assert set(tree.within(store.state(number).labels)) == set(tree)
            for (number, _), (_, before) in zip(
                made_versions[:0:-1], made_versions[-2::-1], strict=True
            ):
                store.undo(number)
                assert objects(store) == before
