"""TF-IDF features of text columns, computed by scikit-learn."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError, ParameterError
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.tables.columns import SourceTable
from nodegraft.tables.data_report import finding
from nodegraft.tables.features.encoder import Arrays, ColumnEncoder, Encoded

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

WORD = r"(?u)[^\W\d_]{2,}"
"""Regular expression of a word: two or more letters of any script. Digits are excluded because they
say little about a topic.
"""


FEWEST_DOCUMENTS = 3
"""Default of ``min_documents``."""


def refuse_unused_options(min_documents: int, stop_words: str | None) -> None:
    """Refuse options of TF-IDF that differ from their defaults, where no TF-IDF is computed."""
    if (min_documents, stop_words) != (FEWEST_DOCUMENTS, None):
        raise ParameterError(
            "min_documents=… (--min-documents) and stop_words=… are options of the text encoder "
            "tfidf, which is not used here: leave them out, or give columns of text (--text) and "
            "encoder='tfidf' (--encoder tfidf)."
        )


class TextVectoriser:
    """TF-IDF vectoriser: converts each text to a sparse row of length 1.

    >>> vectoriser = TextVectoriser(min_documents=1, use_idf=False)
    >>> vectoriser.fit(["red shoes", "red hats"]).words
    ['hats', 'red', 'shoes']

    Args:
        min_documents: Minimum number of texts that have a word; rarer words are left out.
        use_idf: Whether rare words get a larger weight (IDF). IDF depends on all texts, including
            texts of classes that arrive later, so the benchmark datasets do not use it.
        stop_words: ``"english"`` to leave out the most common English words; None to use all words.
    """

    def __init__(
        self,
        min_documents: int = FEWEST_DOCUMENTS,
        use_idf: bool = True,
        stop_words: Literal["english"] | None = None,
    ) -> None:
        validate_value("min_documents", min_documents, PositiveInt)
        validate_value("stop_words", stop_words, Literal["english"] | None)
        self.min_documents = min_documents
        self.use_idf = use_idf
        self.stop_words = stop_words

    def fit(self, texts: Iterable[str]) -> "TextVectoriser":
        """Choose the words, and compute their IDF if IDF is used; return this vectoriser."""
        words_in, having, total = self._new().build_analyzer(), Counter[str](), 0
        # Read texts one at a time, so that only words and their counts need memory.
        for text in texts:
            having.update(set(words_in(text)))
            total += 1
        self._words = sorted(word for word, count in having.items() if count >= self.min_documents)
        if not self._words:
            raise DataError(
                f"No word occurs in {self.min_documents} texts or more: lower "
                "min_documents=… (--min-documents N)."
            )
        counts = np.array([having[word] for word in self._words], dtype=np.float32)
        self._idf = _rarities(counts, total) if self.use_idf else None
        self.__dict__.pop("_engine", None)
        return self

    @cached_property
    def _engine(self) -> "TfidfVectorizer":
        # Create it on first use, because scikit-learn is slow to import and a saved model may not
        # need it.
        vocabulary = {word: column for column, word in enumerate(self._words)}
        # Fit on one empty text, which is enough because the vocabulary is fixed.
        engine = self._new(vocabulary=vocabulary).fit([""])
        if self._idf is not None:
            engine.idf_ = self._idf
        return engine

    def _new(self, **options: Any) -> "TfidfVectorizer":
        # Import it here, because the import takes a second.
        from sklearn.feature_extraction.text import TfidfVectorizer

        return TfidfVectorizer(
            token_pattern=WORD,
            use_idf=self.use_idf,
            stop_words=self.stop_words,
            dtype=np.float32,
            **options,
        )

    def transform(self, texts: Iterable[str]) -> "csr_array[Any]":
        """Return a sparse TF-IDF row for each text; unknown words are ignored."""
        listed = list(texts)
        if not listed:
            return csr_array((0, len(self._words)), dtype=np.float32)
        return csr_array(self._engine.transform(listed))

    def unfitted(self) -> "TextVectoriser":
        """Return an unfitted vectoriser with the same options."""
        return TextVectoriser(self.min_documents, self.use_idf, self.stop_words)

    def keeping(self, is_kept: NDArray[np.bool_]) -> "TextVectoriser":
        """Return a vectoriser with only some of the words, whose IDF weights do not change."""
        if not is_kept.any():
            raise DataError("No word would be left.")
        arrays, document = self.state()
        words = list(compress(self.words, is_kept))
        return self.from_state(
            {name: array[is_kept] for name, array in arrays.items()}, {**document, "words": words}
        )

    @property
    def words(self) -> list[str]:
        """Word of each feature column, in column order."""
        return self._words

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the fitted state as arrays and JSON."""
        arrays = {} if self._idf is None else {"idf": self._idf}
        return arrays, {
            "words": self.words,
            "use_idf": self.use_idf,
            "min_documents": self.min_documents,
            "stop_words": self.stop_words,
        }

    @classmethod
    def from_state(cls, arrays: Arrays, document: Mapping[str, Any]) -> "TextVectoriser":
        """Restore a vectoriser from its :meth:`state`."""
        vectoriser = cls(document["min_documents"], document["use_idf"], document["stop_words"])
        words = document["words"]
        if isinstance(words, str) or not all(isinstance(word, str) for word in words):
            raise ValueError("words must be a list of texts")
        if len(set(words)) != len(words):
            raise ValueError("words must be a list of different texts")
        vectoriser._words = list(words)
        vectoriser._idf = arrays["idf"] if document["use_idf"] else None
        if vectoriser._idf is not None and vectoriser._idf.shape != (len(words),):
            raise ValueError("every word needs a weight")
        return vectoriser


def _rarities(counts: NDArray[np.float32], total: int) -> NDArray[np.float64]:
    """Return the IDF of each word: ``1 + log((1 + texts) / (1 + texts with the word))``.

    The result is rounded as in scikit-learn.
    """
    shares = np.full_like(counts, total + 1) / (counts + np.float32(1.0))
    return (np.log(shares) + np.float32(1.0)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class TextColumns(ColumnEncoder):
    """Encoder that joins text columns to one text per node and computes TF-IDF."""

    columns: tuple[str, ...]
    """Names of the text columns."""

    vectoriser: TextVectoriser
    """Vectoriser that was fitted on the joined texts."""

    @classmethod
    def fit(
        cls, table: SourceTable, columns: tuple[str, ...], vectoriser: TextVectoriser
    ) -> "TextColumns":
        """Fit an encoder on text columns of a table."""
        parts = (joined_texts(batch, columns) for batch in table.batches(*columns))
        return cls(columns, vectoriser.fit(chain.from_iterable(parts)))

    def encode(self, table: SourceTable, keys: NDArray[Any]) -> Encoded:
        """Return a TF-IDF row for each table row."""
        matrix = self.vectoriser.transform(joined_texts(table, self.columns))
        empty = np.flatnonzero(np.diff(matrix.indptr) == 0)
        what = "nodes whose text is missing or has no known word"
        return Encoded(matrix, tuple(finding(what, empty.size, keys[empty[:3]])))

    def keeping(self, is_kept: NDArray[np.bool_]) -> "TextColumns":
        """Return an encoder with only some of the words, whose IDF weights do not change."""
        return TextColumns(self.columns, self.vectoriser.keeping(is_kept))

    @property
    def feature_names(self) -> list[str]:
        """Words of the vectoriser: each word is a feature."""
        return self.vectoriser.words

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the state of the vectoriser and the column names, as arrays and JSON."""
        arrays, document = self.vectoriser.state()
        return arrays, {**document, "columns": list(self.columns)}

    @classmethod
    def from_state(cls, arrays: Arrays, document: Mapping[str, Any]) -> "TextColumns":
        """Restore the encoder from its :meth:`state`."""
        return cls(tuple(document["columns"]), TextVectoriser.from_state(arrays, document))


def joined_texts(table: SourceTable, columns: tuple[str, ...]) -> list[str]:
    """Join the texts of several columns to one text per row; missing texts count as empty."""
    parts = [[text or "" for text in table.texts(name)] for name in columns]
    return [" ".join(row) for row in zip(*parts, strict=True)]
