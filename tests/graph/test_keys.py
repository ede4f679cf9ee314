from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from nodegraft.base.errors import DataError, UnknownNodeError
from nodegraft.graph.growth.growing import GrownKeys, with_keys
from nodegraft.graph.keys import NodeKeys

TEXT = NodeKeys(["b", "é", "", "a"])
NUMBERS = NodeKeys([30, 0, -1, 2**62])


@pytest.mark.parametrize("keys", [TEXT, NUMBERS, NodeKeys(np.array([5, 3], dtype=np.uint8))])
def test_rows_and_keys_are_two_names_of_a_node(keys: NodeKeys) -> None:
    asked = keys.at([1, 0, 1])
    assert keys.rows(asked).tolist() == [1, 0, 1]
    assert keys.rows(np.array(asked)).tolist() == [1, 0, 1]
    assert keys.at(np.arange(len(keys))) == keys.values().tolist()


def test_keys_are_plain_text_or_plain_integers() -> None:
    assert [type(key) for key in NodeKeys(np.array(["a", "b"])).at([0, 1])] == [str, str]
    assert [type(key) for key in NodeKeys(np.arange(2)).at([0, 1])] == [int, int]
    assert TEXT.is_text
    assert not NUMBERS.is_text


@pytest.mark.parametrize(
    ("keys", "asked", "missing"),
    [
        (TEXT, ["a", "x", "b", "y"], r"2 of 4 nodes .*: 'x', 'y'\."),
        (TEXT, [0], r"1 of 1 nodes .*: 0\."),
        (NUMBERS, [30, 31], r"1 of 2 nodes .*: 31\."),
        (NUMBERS, [30, "30"], r"1 of 2 nodes .*: '30'\."),
        (NUMBERS, [30.0, -1.5], r"2 of 2 nodes .*: 30\.0, -1\.5\."),
        (NUMBERS, [None, float("nan"), 2**64], r"3 of 3 nodes"),
        (NodeKeys([]), [0, "a"], r"2 of 2 nodes"),
    ],
)
def test_every_missing_key_is_named_and_no_other(
    keys: NodeKeys, asked: list[Any], missing: str
) -> None:
    with pytest.raises(UnknownNodeError, match=missing):
        keys.rows(asked)


def test_membership_is_told_one_by_one() -> None:
    assert (TEXT.find(["a", "x", ""]) >= 0).tolist() == [True, False, True]
    assert (NUMBERS.find(np.array([7, 30])) >= 0).tolist() == [False, True]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (["a", "b", "a", "c", "c"], "2 node keys occur more than once: 'a', 'c'"),
        ([1, 2, 1], "1 node keys occur more than once: 1"),
        (["a", 1], "all text or all integers"),
        (["a", None], "without missing values"),
        ([1.0, 2.0], "all text or all integers"),
        ([True, False], "all text or all integers"),
        ([2**63], r"below 2\*\*63"),
        ([(1, 2)], "not lists"),
        ([[1], [2, 3]], "not lists"),
    ],
)
def test_keys_that_name_no_node_are_refused(keys: Sequence[Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        NodeKeys(keys)


def test_new_keys_come_after_the_old() -> None:
    assert with_keys(TEXT, ["z"]).rows(["b", "z"]).tolist() == [0, 4]
    assert with_keys(NodeKeys([]), ["a"]).at([0]) == ["a"]
    assert with_keys(NUMBERS, []).values().tolist() == NUMBERS.values().tolist()
    with pytest.raises(DataError, match="more than once: 'a'"):
        with_keys(TEXT, ["z", "a"])
    with pytest.raises(DataError, match="same type"):
        with_keys(TEXT, [1])


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize("base", [1, 700])
def test_grown_keys_are_in_the_order_of_all_hashes(text: bool, base: int) -> None:
    numbers = np.random.default_rng(3).permutation(2000)[: base + 60]
    keys = np.array([f"k{one}" for one in numbers], dtype=object) if text else numbers
    grown = GrownKeys(NodeKeys(keys[:base]), NodeKeys(keys[base:]))
    for count in (5, 60, keys.size):
        first = NodeKeys(keys).smallest_hashes(count)
        np.testing.assert_array_equal(grown.smallest_hashes(count), first)
