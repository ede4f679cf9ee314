"""Warnings of a change: one example, a class that takes over many nodes, a similar name."""

from pathlib import Path

import numpy as np
import pytest

from nodegraft.analysis.labels.changes import Change, ChangedClass, class_warnings
from nodegraft.graph.labels import differ_by_one_letter, similar_names
from nodegraft.store.store import Store
from tests.store.small import drawn, made


def test_a_class_of_one_example_is_warned_of_and_made(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s", method="graft")
    (name, nodes), (other, more) = new.items()
    lesson = {name: nodes[:1], other: more}
    seen = store.preview(Change("add", {"classes": lesson}))
    (warning,) = [one for one in seen.warnings() if "1 example" in one]
    assert repr(name) in warning
    added = store.add(lesson)
    assert added.measures["warnings"] == seen.warnings()
    # More examples of it, and the warning is gone; the other class was not changed.
    assert store.label({name: nodes[1:]}).measures["warnings"] == []


def test_a_class_that_takes_over_is_warned_of(tmp_path: Path) -> None:
    graph, labels = drawn(classes=12)
    known, others = sorted(labels)[:4], sorted(labels)[4:]
    store = Store.init(tmp_path / "s", graph, {name: labels[name] for name in known})
    rest = {"rest": [key for name in others for key in labels[name][:10]]}
    seen = store.preview(Change("add", {"classes": rest}))
    predicted = seen.changed["rest"].predicted
    assert predicted > 2 / 5 * 240
    (warning,) = seen.warnings()
    assert f"{predicted} of 240 nodes ({100 * predicted / 240:.1f} %, more than 40 %)" in warning
    one = {others[0]: labels[others[0]][:5]}
    assert store.preview(Change("add", {"classes": one})).warnings() == []


def test_the_limit_is_a_tenth_or_twice_the_mean_share() -> None:
    taking = {"a": ChangedClass(examples=5, predicted=41, gained=40)}
    assert class_warnings(taking, num_classes=5, total=100)
    assert not class_warnings(taking, num_classes=4, total=100)
    ten = {"a": ChangedClass(examples=5, predicted=11, gained=1)}
    assert class_warnings(ten, num_classes=50, total=100)
    assert not class_warnings(ten, num_classes=50, total=110)
    # It was that large before: nothing is taken over.
    assert not class_warnings({"a": ChangedClass(5, 60, 0)}, num_classes=50, total=100)


@pytest.mark.parametrize(
    ("name", "other", "close"),
    [
        ("knive", "Knife", True),
        ("knive", "knives", True),
        ("headphnoes", "headphones", True),
        ("mens shoes", "man shoes", False),
        ("class 2018", "class 2019", False),
        ("cs.AI", "cs.AR", False),
        ("cat", "hat", False),
        ("type a", "type b", False),
        ("level  one", "Leval one", True),
        ("hats", "hats", False),
    ],
)
def test_names_that_differ_by_one_letter(name: str, other: str, close: bool) -> None:
    assert differ_by_one_letter(name, other) is differ_by_one_letter(other, name) is close


def test_similar_names_are_those_of_all_pairs() -> None:
    dice = np.random.default_rng(0)
    names = {"".join(dice.choice(list("abcdef"), 4)) for _ in range(200)}
    new = sorted(names)[::2]
    expected: dict[str, str] = {}
    for name in new:
        close = [other for other in sorted(names) if differ_by_one_letter(name, other)]
        close = [other for other in close if expected.get(other) != name]
        expected |= {name: close[0]} if close else {}
    assert len(expected) > 10
    assert similar_names(new, names) == expected


def test_a_name_like_another_one_is_warned_of(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s")
    first, second = new.values()
    store.add({"knives": first})
    seen = store.preview(Change("add", {"classes": {"knive": second}}))
    warning = "The new name 'knive' differs from 'knives' by one letter: check the spelling."
    assert warning in seen.warnings()
    both = {"shoes": second[:1], "shoe": second[1:]}
    similar = [
        text
        for text in store.preview(Change.of("add", classes=both)).warnings()
        if "letter" in text
    ]
    assert similar == [
        "The new name 'shoe' differs from 'shoes' by one letter: check the spelling."
    ]
    assert warning in store.add({"knive": second}).measures["warnings"]
    # Only new names are checked.
    assert not store.preview(Change("unlabel", {"keys": second[:1]})).similar
