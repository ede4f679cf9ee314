"""A store of a graph on disk whose process dies: the version before, or the version after."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from nodegraft.graph.disk.mapped import MappedStore
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.tables.storage import load_graph
from tests.fault.test_store_kills import COMMITTED, inits_cut, killed_at, seen, steps_of
from tests.slow_suite import slow
from tests.store.on_disk import CLASSES, joined, labels_of, made, rows

# What is tried shares what it starts from.
pytestmark = pytest.mark.xdist_group("store kills")

some_steps = pytest.mark.parametrize("every", [53, pytest.param(1, marks=slow)])


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a graph, and a store of it."""
    folder = tmp_path_factory.mktemp("first")
    made(folder, method="sgc-mean").close()
    return folder


def grow(count: int, place: Path) -> None:
    new = range(600, 600 + count)
    with Store.open(place) as store:
        store.grow(rows(new), joined([(one, one % CLASSES) for one in new]))


def sync(place: Path) -> None:
    with Store.open(place) as store:
        ends = joined([(one, one + CLASSES) for one in range(580)])
        store.sync(rows(range(590)), ends, intent=Intent(override="a test"))


def check_whole(place: Path) -> None:
    """Every file of every version is as it was written."""
    with Store.open(place) as store:
        for version in store.history():
            mapped = store.graph(version.number)._store
            assert isinstance(mapped, MappedStore)
            mapped.verify()


@some_steps
@pytest.mark.parametrize(
    "do", [partial(grow, 2), partial(grow, 200), sync], ids=["grow", "grow much", "sync"]
)
def test_a_graph_whose_change_is_cut_is_the_one_before_or_after(
    do: Callable[[Path], None], every: int, first: Path, tmp_path: Path
) -> None:
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(first / "mapped", undisturbed)
    before = seen(undisturbed)
    names = steps_of(lambda: do(undisturbed))
    after = seen(undisturbed)
    assert before != after
    for step in [*range(0, len(names), every), names.index(COMMITTED)]:
        place = tmp_path / str(step)
        shutil.copytree(first / "mapped", place)
        assert killed_at(step, partial(do, place))
        if COMMITTED not in names[: step + 1]:
            assert seen(place) == before
            do(place)
        assert seen(place) == after
        check_whole(place)
        shutil.rmtree(place)


@some_steps
def test_an_init_that_is_cut_leaves_a_store_or_is_done_again(
    every: int, first: Path, tmp_path: Path
) -> None:
    def make(place: Path) -> None:
        graph = load_graph(first / "graph")
        Store.init(place, graph, labels_of(0, 1, 2, 3), method="sgc-mean").close()

    for place in inits_cut(make, every, tmp_path):
        check_whole(place)
    # The folder that it was built in is as it was.
    load_graph(first / "graph", verify=True)
