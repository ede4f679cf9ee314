import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.base import hashing
from nodegraft.base.hashing import content_hash

NUMBERS = np.arange(12, dtype=np.int32).reshape(3, 4)


def test_the_hash_of_a_value_never_changes() -> None:
    parts = (NUMBERS, "é", 7, [1, "a"], {"b": 1, "a": [True, None]})
    assert content_hash(*parts) == "7c01c4e2abe7c11879954425b6183935"


def test_only_the_value_counts() -> None:
    assert content_hash(np.asfortranarray(NUMBERS)) == content_hash(NUMBERS)
    assert content_hash({"a": 1, "b": 2}) == content_hash({"b": 2, "a": 1})


@pytest.mark.parametrize(
    "other",
    [NUMBERS.T.copy(), NUMBERS.astype(np.int64), NUMBERS.reshape(4, 3), NUMBERS + 1],
    ids=["order", "type", "shape", "values"],
)
def test_everything_about_an_array_counts(other: NDArray[np.int32]) -> None:
    assert content_hash(other) != content_hash(NUMBERS)


def test_blocks_are_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = content_hash(NUMBERS)
    monkeypatch.setattr(hashing, "_BLOCK", 5)
    assert content_hash(NUMBERS) == whole


def test_objects_have_no_content_to_hash() -> None:
    with pytest.raises(TypeError):
        content_hash(np.array(["a", None], dtype=object))
