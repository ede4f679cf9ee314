"""Text to weighted word counts, by scikit-learn's vectoriser, kept as JSON and one array."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.tables.columns import SourceTable
from nodegraft.tables.data_report import finding
from nodegraft.tables.features.encoder import Arrays, Encoded

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

# Runs of two letters or more, in any script; digits say little of a topic.
WORD = r"(?u)[^\W\d_]{2,}"


class TextVectoriser:
    """Rows of TF-IDF, each of length 1.

    >>> vectoriser = TextVectoriser(min_documents=1, use_idf=False)
    >>> vectoriser.fit(["red shoes", "red hats"]).words
    ['hats', 'red', 'shoes']

    Args:
        min_documents: Words that occur in fewer texts are left out.
        use_idf: Whether words weigh more the rarer they are. Without it a row depends on its own
            text alone; weights by rarity need all texts, those of classes that have not arrived
            included, so the benchmark datasets do without.
        stop_words: ``"english"`` leaves out the most common English words.
    """

    def __init__(
        self,
        min_documents: int = 3,
        use_idf: bool = True,
        stop_words: Literal["english"] | None = None,
    ) -> None:
        validate_value("min_documents", min_documents, PositiveInt)
        validate_value("stop_words", stop_words, Literal["english"] | None)
        self.min_documents = min_documents
        self.use_idf = use_idf
        self.stop_words = stop_words

    def fit(self, texts: Iterable[str]) -> "TextVectoriser":
        """Choose the words, and weigh them by rarity if asked to.

        Args:
            texts: One text for each node.
        """
        words_in, having, total = self._new().build_analyzer(), Counter[str](), 0
        # Texts are counted as they come: only the words are held in memory.
        for text in texts:
            having.update(set(words_in(text)))
            total += 1
        self._words = sorted(word for word, count in having.items() if count >= self.min_documents)
        if not self._words:
            raise DataError(
                f"No word occurs in {self.min_documents} texts or more: lower min_documents."
            )
        counts = np.array([having[word] for word in self._words], dtype=np.float32)
        self._idf = _rarities(counts, total) if self.use_idf else None
        self.__dict__.pop("_engine", None)
        return self

    @cached_property
    def _engine(self) -> "TfidfVectorizer":
        # Made when texts come: whoever only asks a saved model need not wait for the import.
        vocabulary = {word: column for column, word in enumerate(self._words)}
        # With the words given, one empty text is all there is to fit.
        engine = self._new(vocabulary=vocabulary).fit([""])
        if self._idf is not None:
            engine.idf_ = self._idf
        return engine

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
        """One sparse row per text; words never met are ignored.

        Args:
            texts: One text for each node.
        """
        listed = list(texts)
        if not listed:
            return csr_array((0, len(self._words)), dtype=np.float32)
        return csr_array(self._engine.transform(listed))

    def keeping(self, kept: NDArray[np.bool_]) -> "TextVectoriser":
        """With some of the words, which weigh what they did.

        Args:
            kept: Whether each of them stays; one must.
        """
        if not kept.any():
            raise DataError("No word would be left.")
        arrays, document = self.state()
        words = list(compress(self.words, kept))
        return self.from_state(
            {name: array[kept] for name, array in arrays.items()}, {**document, "words": words}
        )

    @property
    def words(self) -> list[str]:
        """The word of every column."""
        return self._words

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Everything learned, as arrays and JSON."""
        arrays = {} if self._idf is None else {"idf": self._idf}
        return arrays, {
            "words": self.words,
            "use_idf": self.use_idf,
            "min_documents": self.min_documents,
            "stop_words": self.stop_words,
        }

    @classmethod
    def from_state(cls, arrays: Arrays, document: Mapping[str, Any]) -> "TextVectoriser":
        """The vectoriser :meth:`state` describes.

        Args:
            arrays: Its arrays.
            document: Its JSON.
        """
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
    """``1 + log((1 + texts) / (1 + texts that have it))``, in the steps scikit-learn takes."""
    shares = np.full_like(counts, total + 1) / (counts + np.float32(1.0))
    return (np.log(shares) + np.float32(1.0)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class TextColumns:
    """Columns of text, read as one text a node; a missing one is empty."""

    columns: tuple[str, ...]
    """The names of the columns."""

    vectoriser: TextVectoriser
    """Turns texts into rows."""

    @classmethod
    def fit(
        cls, table: SourceTable, columns: tuple[str, ...], vectoriser: TextVectoriser
    ) -> "TextColumns":
        """The words of a table.

        Args:
            table: The table to learn from.
            columns: The names of its columns of text.
            vectoriser: How words are chosen; it is fitted here.
        """
        parts = (joined(batch, columns) for batch in table.batches(*columns))
        return cls(columns, vectoriser.fit(chain.from_iterable(parts)))

    def encode(self, table: SourceTable, keys: NDArray[Any]) -> Encoded:
        """Weighted word counts.

        Args:
            table: A table with the same columns.
            keys: The key of each row, for findings.
        """
        matrix = self.vectoriser.transform(joined(table, self.columns))
        silent = np.flatnonzero(np.diff(matrix.indptr) == 0)
        what = "nodes whose text is missing or has no known word"
        return Encoded(matrix, tuple(finding(what, silent.size, keys[silent[:3]])))

    def keeping(self, kept: NDArray[np.bool_]) -> "TextColumns":
        """With some of the words, which weigh what they did.

        Args:
            kept: Whether each of them stays.
        """
        return TextColumns(self.columns, self.vectoriser.keeping(kept))

    @property
    def feature_names(self) -> list[str]:
        """The words."""
        return self.vectoriser.words

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The vectoriser's, and the names."""
        arrays, document = self.vectoriser.state()
        return arrays, {**document, "columns": list(self.columns)}

    @classmethod
    def from_state(cls, arrays: Arrays, document: Mapping[str, Any]) -> "TextColumns":
        """The encoder that :meth:`state` describes.

        Args:
            arrays: Its arrays.
            document: Its JSON.
        """
        return cls(tuple(document["columns"]), TextVectoriser.from_state(arrays, document))


def joined(table: SourceTable, columns: tuple[str, ...]) -> list[str]:
    """Columns of text as one text a row; a missing one is empty.

    Args:
        table: The table.
        columns: The names of its columns.
    """
    parts = [[text or "" for text in table.texts(name)] for name in columns]
    return [" ".join(row) for row in zip(*parts, strict=True)]
