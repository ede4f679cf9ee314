from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodegraft.graph.disk import mapped_keys
from nodegraft.graph.disk.mapped_keys import MappedKeys, PackedTexts, Stored, index_hashes
from nodegraft.graph.growth.growing import with_keys
from nodegraft.graph.keys import NodeKeys, key_array

TEXTS = ["", "a", "ab", "eightbyt", "eightbyte", "a longer key than that", "été", "日本"]
INTEGERS = [5, -3, 2**62, 0, -(2**63)]


def mapped(keys: list[Any]) -> MappedKeys:
    texts = bool(keys) and isinstance(keys[0], str)
    stored: Stored = PackedTexts.of(keys) if texts else np.array(keys, dtype=np.int64)
    hashes = index_hashes(stored)
    rows = np.argsort(hashes, kind="stable")
    return MappedKeys(stored, hashes[rows], rows, NodeKeys(keys).smallest_hashes(len(keys)))


@pytest.mark.parametrize("keys", [TEXTS, INTEGERS], ids=["text", "integers"])
def test_keys_are_found_like_those_in_memory(keys: list[Any]) -> None:
    ours, plain = mapped(keys), NodeKeys(keys)
    asked = [*keys[::-1], "nobody", "eightbytes", 7, 1.5, None, 2**70, keys[0], "\ud800"]
    np.testing.assert_array_equal(ours.find(asked), plain.find(asked))
    assert ours.find([]).tolist() == []
    assert ours.at([2, 0]) == plain.at([2, 0]) == [keys[2], keys[0]]
    assert ours.array_at([1]).dtype == plain.array_at([1]).dtype
    assert ours.values().tolist() == keys
    assert (len(ours), ours.is_text) == (len(plain), plain.is_text)
    more = with_keys(ours, ["new"] if plain.is_text else [9])
    assert more.rows([*keys, more.at([len(keys)])[0]]).tolist() == list(range(len(keys) + 1))


@pytest.mark.parametrize("keys", [TEXTS, INTEGERS], ids=["text", "integers"])
def test_keys_with_the_same_hash_are_told_apart(
    keys: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def few(stored: Stored) -> Any:
        return index_hashes(stored) % np.uint64(2)

    monkeypatch.setattr(mapped_keys, "index_hashes", few)
    stored: Stored = PackedTexts.of(keys) if keys is TEXTS else key_array(keys)
    hashes = few(stored)
    rows = np.argsort(hashes, kind="stable")
    ours = MappedKeys(stored, hashes[rows], rows, rows)
    assert ours.find([*keys, "nobody", 77]).tolist() == [*range(len(keys)), -1, -1]


@given(st.lists(st.text(), unique=True, min_size=1), st.lists(st.text()))
def test_any_texts_are_found(keys: list[str], others: list[str]) -> None:
    kept = [key for key in keys if not any("\ud800" <= c <= "\udfff" for c in key)] or ["a"]
    asked = kept + others
    np.testing.assert_array_equal(mapped(kept).find(asked), NodeKeys(kept).find(asked))
