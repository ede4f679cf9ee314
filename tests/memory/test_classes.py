import json

import pytest

from nodegraft.base.errors import ClassNameError
from nodegraft.memory.classes import ClassTable, KnownClass

TABLE = ClassTable().add({"hats": 5, "shoes": 3}, session=0).add({"bags": 1}, session=1)


def test_new_classes_come_after_the_old() -> None:
    assert TABLE.names == ("hats", "shoes", "bags")
    assert len(TABLE) == 3
    assert TABLE.classes[2] == KnownClass("bags", born=1, shots=1)


@pytest.mark.parametrize(
    ("shots", "message"),
    [
        ({"caps": 1, "hats": 2}, "knows 'hats' already"),
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
    assert kept.classes[1].born == 1
    assert kept.add({"shoes": 9}, session=2).names == ("hats", "bags", "shoes")
    assert TABLE.names == ("hats", "shoes", "bags")


def test_all_can_be_removed_and_strangers_cannot() -> None:
    kept, columns = TABLE.remove(TABLE.names)
    assert (len(kept), columns.tolist()) == (0, [])
    with pytest.raises(ClassNameError, match="knows no class 'caps'"):
        TABLE.remove(["hats", "caps"])


def test_a_table_comes_back_from_json() -> None:
    assert ClassTable.from_json(json.loads(json.dumps(TABLE.to_json()))) == TABLE
