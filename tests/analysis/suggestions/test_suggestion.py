"""Which nodes to label next, and which groups of nodes may be a class that nobody has taught."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import nodegraft as ng
from nodegraft.analysis.suggestions import group_representatives, log_odds
from nodegraft.base.errors import ParameterError
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from tests.store.small import made

WORDS = {
    "hats": "felt brim wool cap straw",
    "shoes": "sole lace heel leather boot",
    "bags": "strap zip pocket canvas handle",
    "lamps": "bulb shade cord switch lumen",
    "rugs": "pile weave fringe jute knot",
    "pots": "lid cast iron glaze clay",
    "bikes": "wheel pedal chain saddle gear",
}
NEW, OF_EACH = "bikes", 40


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Classes with words of their own, of which one was never taught."""
    draws = np.random.default_rng(7)
    nodes = {
        f"{name}{number}": " ".join([*draws.choice(words.split(), 3, replace=False), "new", "item"])
        for name, words in WORDS.items()
        for number in range(OF_EACH)
    }
    edges = [
        {"source": f"{name}{one}", "target": f"{name}{other}"}
        for name in WORDS
        for one, other in draws.integers(OF_EACH, size=(3 * OF_EACH, 2))
    ]
    tables = ng.read_tables(
        pa.table({"key": list(nodes), "text": list(nodes.values())}),
        pa.Table.from_pylist(edges),
        text="text",
    )
    known = {name: [f"{name}{n}" for n in range(15)] for name in WORDS if name != NEW}
    place = tmp_path_factory.mktemp("shop") / "store"
    return Store.init(place, tables.graph, known, texts=tables.texts)


def test_a_class_that_was_never_taught_is_found_with_its_words(shop: Store) -> None:
    first, *others = shop.suggest_classes()
    assert first.size > OF_EACH / 2
    assert {str(node).rstrip("0123456789") for node in first.examples} == {NEW}
    assert len(first.examples) == 3
    assert set(first.top_terms) <= set(WORDS[NEW].split())
    assert len(first.top_terms) == 5
    assert all(str(one.examples[0]).startswith(NEW) for one in others)


def test_a_class_that_was_taught_is_no_group_any_more(shop: Store) -> None:
    group, *_ = shop.suggest_classes()
    version = shop.add({NEW: group.examples}, intent=Intent(override="a test")).number
    assert not [one for one in shop.suggest_classes(version=version) if one.size > OF_EACH / 2]
    assert shop.suggest_classes(version=1)[0] == group


def test_suggested_nodes_have_no_label_and_differ(shop: Store) -> None:
    found = shop.suggest(10, version=1)
    nodes = [one.node for one in found]
    assert len(set(nodes)) == len(nodes) == 10
    assert not set(nodes) & set(shop.state(1).labels.owners())
    assert [one.similar_nodes for one in found] == sorted(
        (one.similar_nodes for one in found), reverse=True
    )
    # Of the class that is not known all are unsure.
    assert sum(str(node).startswith(NEW) for node in nodes) > 10 / len(WORDS)


def test_more_nodes_than_there_are_give_all(shop: Store) -> None:
    free = len(WORDS) * OF_EACH - len(shop.state(1).labels.owners())
    assert 0 < len(shop.suggest(10 * free, version=1)) <= free


def test_threads_that_suggest_let_no_warning_escape() -> None:
    # The vectors differ, but their distances are 0: scikit-learn's KMeans warns of empty groups.
    vectors = np.arange(150.0).reshape(50, 3) * 1e-200

    def sizes(_: int) -> list[int]:
        return [len(list(group_representatives(vectors, np.ones(50), 20))) for _ in range(50)]

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(sizes, range(2))) == [[1] * 50] * 2


def test_a_method_that_cannot_tell_finds_no_groups(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "s", method="sgc-mean")
    assert store.suggest_classes() == []
    with pytest.raises(ParameterError, match="count"):
        store.suggest_classes(0)


def test_a_rare_word_tells_less_than_a_frequent_one() -> None:
    often, once, everywhere = log_odds(np.array([30, 1, 40]), np.array([3, 0, 400]))
    assert often > once > everywhere
