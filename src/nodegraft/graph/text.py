"""Text to weighted word counts, by scikit-learn's vectoriser, kept as JSON and one array."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.bundle import read_bundle, write_bundle
from nodegraft.base.errors import DataError

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

# Runs of two letters or more, in any script; digits say little of a topic.
WORD = r"(?u)[^\W\d_]{2,}"


class TextVectoriser:
    """Rows of TF-IDF, each of length 1.

    With ``use_idf=False`` a row depends on its own text alone; weights by rarity need all texts,
    those of classes that have not arrived included, so the benchmark datasets do without.

    >>> vectoriser = TextVectoriser(min_documents=1, use_idf=False)
    >>> vectoriser.fit(["red shoes", "red hats"]).words
    ['hats', 'red', 'shoes']
    """

    def __init__(
        self,
        min_documents: int = 3,
        use_idf: bool = True,
        stop_words: Literal["english"] | None = None,
    ) -> None:
        self.min_documents = min_documents
        self.use_idf = use_idf
        self.stop_words = stop_words

    def fit(self, texts: Iterable[str]) -> "TextVectoriser":
        """Choose the words, and weigh them by rarity if asked to."""
        self._engine = self._new(min_df=self.min_documents)
        try:
            self._engine.fit(texts)
        except ValueError as error:
            raise DataError(
                f"No word occurs in {self.min_documents} texts or more: lower min_documents."
            ) from error
        return self

    def _new(self, **options: Any) -> "TfidfVectorizer":
        # Imported late: it takes a second, which every command without text would wait for.
        from sklearn.feature_extraction.text import TfidfVectorizer

        return TfidfVectorizer(
            token_pattern=WORD,
            use_idf=self.use_idf,
            stop_words=self.stop_words,
            dtype=np.float32,
            **options,
        )

    def transform(self, texts: Iterable[str]) -> "csr_array[Any]":
        """One sparse row per text; words never met are ignored."""
        return csr_array(self._engine.transform(texts))

    @property
    def words(self) -> list[str]:
        """The word of every column."""
        return [str(word) for word in self._engine.get_feature_names_out()]

    def save(self, directory: str | Path) -> None:
        """Write a new directory of JSON and one array."""
        write_bundle(Path(directory), *self.state())

    @classmethod
    def load(cls, directory: str | Path) -> "TextVectoriser":
        """The vectoriser a directory holds."""
        return cls.from_state(*read_bundle(Path(directory)))

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Everything learned, as arrays and JSON."""
        arrays = {"idf": self._engine.idf_.astype(np.float64)} if self.use_idf else {}
        return arrays, {
            "words": self.words,
            "use_idf": self.use_idf,
            "min_documents": self.min_documents,
            "stop_words": self.stop_words,
        }

    @classmethod
    def from_state(
        cls, arrays: dict[str, NDArray[Any]], document: dict[str, Any]
    ) -> "TextVectoriser":
        """The vectoriser :meth:`state` describes."""
        vectoriser = cls(document["min_documents"], document["use_idf"], document["stop_words"])
        vocabulary = {word: column for column, word in enumerate(document["words"])}
        # With the words given, one empty text is all there is to fit.
        vectoriser._engine = vectoriser._new(vocabulary=vocabulary).fit([""])
        if document["use_idf"]:
            vectoriser._engine.idf_ = arrays["idf"]
        return vectoriser
