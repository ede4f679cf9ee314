import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from nodegraft.base.errors import DataError
from nodegraft.base.files.bundle import read_bundle, write_bundle
from nodegraft.tables.features.text import TextVectoriser

TEXTS = ["the red shoes", "red hats, and the blue hat", "blue HATS 42 é_x", "été été red"]
NEW = ["red hats unseen", "", "42", "the été of blue"]


@pytest.mark.parametrize("use_idf", [True, False])
@pytest.mark.parametrize("stop_words", [None, "english"])
def test_what_was_learned_comes_back_from_json_and_arrays(
    use_idf: bool, stop_words: Literal["english"] | None, tmp_path: Path
) -> None:
    fitted = TextVectoriser(1, use_idf, stop_words).fit(TEXTS)
    arrays, document = fitted.state()
    again = TextVectoriser.from_state(arrays, json.loads(json.dumps(document)))
    write_bundle(tmp_path / "x", arrays, document)
    stored = TextVectoriser.from_state(*read_bundle(tmp_path / "x"))
    expected = fitted.transform(NEW)
    for other in (again, stored):
        assert other.words == fitted.words
        assert other.state()[1] == document
        found = other.transform(NEW)
        assert np.array_equal(found.toarray(), expected.toarray())
        assert found.dtype == np.float32


def test_words_are_letters_and_unseen_ones_are_ignored() -> None:
    vectoriser = TextVectoriser(1).fit(TEXTS)
    assert vectoriser.words == ["and", "blue", "hat", "hats", "red", "shoes", "the", "été"]
    rows = vectoriser.transform(NEW).toarray()
    assert np.count_nonzero(rows, axis=1).tolist() == [2, 0, 0, 3]
    lengths = np.linalg.norm(rows, axis=1)
    np.testing.assert_allclose(lengths, [1, 0, 0, 1], rtol=1e-6)


def test_stop_words_and_rare_words_are_left_out() -> None:
    assert "the" not in TextVectoriser(1, stop_words="english").fit(TEXTS).words
    assert TextVectoriser(3).fit(TEXTS).words == ["red"]
    with pytest.raises(DataError, match="No word occurs in 4 texts or more: lower"):
        TextVectoriser(4).fit(TEXTS)


def test_without_idf_a_row_depends_on_its_own_text_alone() -> None:
    one = TextVectoriser(1, use_idf=False).fit([*TEXTS, "red"])
    other = TextVectoriser(1, use_idf=False).fit([*TEXTS, "blue"])
    assert np.array_equal(one.transform(NEW).toarray(), other.transform(NEW).toarray())
    rare, common = (
        TextVectoriser(1).fit([*TEXTS, word]).transform(NEW).toarray() for word in ("red", "blue")
    )
    assert not np.array_equal(rare, common)
