import json
from typing import Any

import pytest

from nodegraft.base.errors import CheckpointError, ClassNameError
from nodegraft.model.class_table import ClassTable, KnownClass

TABLE = ClassTable().add({"hats": 5, "shoes": 3}, session=0).add({"bags": 1}, session=1)


def test_new_classes_come_after_the_old() -> None:
    assert TABLE.names == ("hats", "shoes", "bags")
    assert len(TABLE) == 3
    assert TABLE.classes[2] == KnownClass("bags", session=1, labels=1)


@pytest.mark.parametrize(
    ("shots", "message"),
    [
        ({"caps": 1, "hats": 2}, "already has the class 'hats'"),
        ({"caps": 1, "rings": 0}, "Class 'rings' has no nodes"),
        ({}, "No class given"),
    ],
)
def test_what_cannot_be_added_is_named(shots: dict[str, int], message: str) -> None:
    with pytest.raises(ClassNameError, match=message):
        TABLE.add(shots, session=2)


def test_what_stays_keeps_its_order_and_birth() -> None:
    kept, columns = TABLE.remove(["shoes"])
    assert kept.names == ("hats", "bags")
    assert columns.tolist() == [0, 2]
    assert kept.classes[1].session == 1
    assert kept.add({"shoes": 9}, session=2).names == ("hats", "bags", "shoes")
    assert TABLE.names == ("hats", "shoes", "bags")


def test_all_can_be_removed_and_unknown_ones_cannot() -> None:
    kept, columns = TABLE.remove(TABLE.names)
    assert (len(kept), columns.tolist()) == (0, [])
    with pytest.raises(ClassNameError, match="has no class 'caps'"):
        TABLE.remove(["hats", "caps"])


def test_the_session_is_the_latest_that_is_left() -> None:
    assert TABLE.session == 1
    assert TABLE.remove(["bags"])[0].session == 0
    assert TABLE.remove(["hats"])[0].session == 1
    assert TABLE.remove(TABLE.names)[0].session == 0


def test_a_table_comes_back_from_json() -> None:
    assert ClassTable.from_json(json.loads(json.dumps(TABLE.to_json()))) == TABLE


@pytest.mark.parametrize(
    "rows",
    [
        [{"name": "a", "session": 0}],
        [{"name": "a", "session": 0, "labels": 1, "more": 2}],
        [{"name": "", "session": 0, "labels": 1}],
        [{"name": 7, "session": 0, "labels": 1}],
        [{"name": "a", "session": "0", "labels": 1}],
        [{"name": "a", "session": 0, "labels": 0}],
        [{"name": "a", "session": 0, "labels": 1}] * 2,
        ["a"],
    ],
)
def test_what_is_no_table_is_refused(rows: list[Any]) -> None:
    with pytest.raises(CheckpointError, match="table of classes"):
        ClassTable.from_json(rows)
