"""Random changes of a store with a class tree, each of which is undone.

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
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from tests.property.strategies import thorough
from tests.slow_suite import examples
from tests.store.small import made

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


def some_change(draw: st.DrawFn, labels: StoreLabels) -> Change:
    """Return a change of classes; most of its names are in the tree."""
    classes = list(labels)
    every = st.sampled_from([*classes, *labels.groups])
    name, new = draw(st.sampled_from(classes)), draw(names)
    free = [node for node in range(240) if node not in labels.owners()]
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


def objects(store: Store) -> tuple[str, ...]:
    return store.version().names.all


# Without the phase that makes a failing case smaller, which would take minutes.
@settings(thorough, max_examples=examples(1000, 6), phases=[Phase.generate])
@given(data=st.data())
def test_undo_gives_the_earlier_objects(template: Path, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        place = shutil.copytree(template, Path(folder) / "store")
        with Store.open(place) as store:
            made_versions = [(store.newest, objects(store))]
            for _ in range(data.draw(st.integers(2, 5))):
                labels = store.state(store.newest).labels
                change = data.draw(st.composite(some_change)(labels))
                try:
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
