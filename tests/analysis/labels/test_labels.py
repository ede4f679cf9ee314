from collections.abc import Callable
from typing import Any

import pytest

from nodegraft.analysis.labels.changes import Change, replay
from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.base.errors import NodegraftError

START = StoreLabels().added({"hats": range(20), "shoes": range(20, 27)})


def test_a_fifth_checks_from_ten_labels_up() -> None:
    assert len(START["hats"].held_out) == 4
    assert START["shoes"].held_out == ()
    assert not set(START["hats"].training) & set(START["hats"].held_out)


def test_labels_that_come_later_make_up_the_fifth() -> None:
    more = START.labelled({"shoes": [30, 31, 32]})
    assert len(more["shoes"].held_out) == 2
    assert set(more["shoes"].held_out) <= {30, 31, 32}
    assert set(START["shoes"].training) <= set(more["shoes"].training)


def test_new_classes_come_in_a_later_session() -> None:
    assert START.added({"caps": [40]})["caps"].session == 1
    assert START["hats"].session == 0


def test_unlabelling_and_labelling_again() -> None:
    node = START["shoes"].training[0]
    left = START.unlabelled([node])
    assert node not in left.owners()
    assert left.labelled({"shoes": [node]}) == START


def test_relabelling_moves_nodes() -> None:
    node = START["shoes"].training[0]
    moved = START.relabelled({"hats": [node]})
    assert moved.owners()[node] == "hats"
    assert len(moved.owners()) == len(START.owners())


def test_merging_keeps_who_checks_and_the_older_session() -> None:
    both = START.added({"caps": [40]}).merged(["caps", "hats"], "headwear")
    assert list(both) == ["shoes", "headwear"]
    assert both["headwear"].session == 0
    assert set(both["headwear"].held_out) == set(START["hats"].held_out)


def test_splitting_lets_the_other_labels_go() -> None:
    parts = START.split("hats", {"caps": [0, 1], "beanies": [2, 3, 90]})
    assert set(parts) == {"shoes", "caps", "beanies"}
    assert parts["caps"].session == parts["beanies"].session == 0
    assert 4 not in parts.owners()


def test_parts_keep_who_teaches_and_who_checks() -> None:
    hats = START["hats"]
    one, other = hats.held_out[:2], hats.held_out[2:]
    parts = START.split(
        "hats", {"caps": [*hats.training[:3], *one], "beanies": [*hats.training[3:], *other]}
    )
    assert (parts["caps"].training, parts["caps"].held_out) == (hats.training[:3], one)
    assert (parts["beanies"].training, parts["beanies"].held_out) == (hats.training[3:], other)
    # Nodes without a label are drawn, as where a class gets more labels.
    more = START.split(
        "hats", {"caps": [*one, *range(50, 68)], "beanies": [*hats.training, *other]}
    )
    assert len(more["caps"].held_out) == 4
    assert set(one) < set(more["caps"].held_out)


def test_a_part_whose_labels_are_all_held_out_is_taught_by_them() -> None:
    hats = START["hats"]
    parts = START.split("hats", {"caps": hats.held_out, "beanies": hats.training})
    assert (parts["caps"].training, parts["caps"].held_out) == (hats.held_out, ())
    assert (parts["beanies"].training, parts["beanies"].held_out) == (hats.training, ())


def test_renaming_keeps_the_place() -> None:
    assert list(START.renamed("hats", "headwear")) == ["headwear", "shoes"]


def test_state_comes_back() -> None:
    labels = START.added({"caps": [40]}).renamed("hats", "häts")
    assert StoreLabels.from_state(*labels.state()) == labels
    texts = StoreLabels().added({"a": list("abcdefghijkl"), "b": ["x"]})
    assert StoreLabels.from_state(*texts.state()) == texts


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda: START.added({"hats": [50]}), "already has the class 'hats': add labels to it"),
        (lambda: START.added({"caps": []}), "has no nodes"),
        (lambda: START.added({}), "No class"),
        (lambda: START.added({" ": [50]}), "class name is text"),
        (lambda: START.added({"caps": [3]}), "Node 3 already has the label 'hats'"),
        (lambda: START.added({"caps": [50], "berets": [50]}), "listed for 'caps' and for 'berets'"),
        (lambda: START.added({"caps": [50, 50]}), "listed twice"),
        (lambda: START.added({"caps": "p1"}), "A list of"),
        (lambda: START.labelled({"cps": [50]}), "has no class 'cps'"),
        (lambda: START.unlabelled([99]), "99 has no label"),
        (lambda: START.unlabelled(range(20, 27)), "no label left to learn from"),
        (lambda: START.relabelled({"caps": [3]}), "has no class 'caps'"),
        (lambda: START.removed(["hats", "shoes"]), "at least one class"),
        (lambda: START.removed(["caps"]), "has no class"),
        (lambda: START.renamed("hats", "shoes"), "use `merge`"),
        (lambda: START.merged(["hats"], "all"), "at least two classes"),
        (lambda: START.split("hats", {"caps": [1]}), "at least two new classes"),
        (lambda: START.split("hats", {"caps": [1], "shoes": [2]}), "already has the class 'shoes'"),
    ],
)
def test_what_makes_no_sense_is_refused(change: Callable[[], StoreLabels], told: str) -> None:
    with pytest.raises(NodegraftError, match=told):
        change()


@pytest.mark.parametrize(
    ("change", "all_told"),
    [
        (
            lambda: START.added({"hats": [3], "caps": [50, 50, 20], "b": [], "": [51]}),
            ["class 'hats'", "50 is listed twice", "20 already has", "'b' has no nodes", "is text"],
        ),
        (
            lambda: START.added({"caps": [0, 1, 20]}),
            ["already have the label 'hats'", "20 al"],
        ),
        (lambda: START.labelled({"cps": [3], "hats": [21]}), ["no class 'cps'", "21 already has"]),
        (lambda: START.unlabelled([0, 0, 98, 99]), ["0 is listed twice", "98, 99 have no label"]),
        (lambda: START.relabelled({"a": [3], "b": [99]}), ["'a', 'b'", "99 has no label"]),
        (lambda: START.removed(["a", "b", "hats", "hats"]), ["'a', 'b'", "'hats' is listed twice"]),
        (lambda: START.merged(["a", "hats", "b"], "all"), ["'a', 'b'"]),
        (lambda: START.split("hats", {"Shoes": [0], "b": []}), ["'Shoes'", "'b' has no nodes"]),
    ],
)
def test_all_problems_are_listed_at_once(
    change: Callable[[], StoreLabels], all_told: list[str]
) -> None:
    with pytest.raises(NodegraftError) as error:
        change()
    assert [part for part in all_told if part not in str(error.value)] == []


def test_a_class_is_not_renamed_to_itself() -> None:
    with pytest.raises(NodegraftError, match="called 'hats' already"):
        START.renamed("hats", "hats")


@pytest.mark.parametrize("keys", ["hats7", b"hats7"])
def test_a_text_instead_of_a_list_is_no_list_of_letters(keys: Any) -> None:
    assert Change.of("add", classes={"new": keys, "caps": ["x"]}).new_nodes == ["x"]


def test_a_stored_change_with_a_repeated_key_is_applied_again() -> None:
    repeated = Change("unlabel", {"keys": [START["hats"].training[0]] * 2})
    assert len(replay(START, {3: repeated}, 2, START)["hats"].all) == len(START["hats"].all) - 1
