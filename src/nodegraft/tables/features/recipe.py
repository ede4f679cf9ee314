"""Feature recipe, which converts table columns to features; it is saved with graphs and models."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import fsum, isfinite, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, vstack

from nodegraft.base.errors import CheckpointError, DataError, ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.files.bundle import prefixed, under
from nodegraft.base.hashing import content_hash
from nodegraft.base.problems import Problems
from nodegraft.graph.edges.matrix import Matrix, is_sparse, placed_rows, row_norms
from nodegraft.graph.node_types import check_node_types, type_numbers, type_of
from nodegraft.tables.columns import Source, SourceTable, column_names, is_list, read_source
from nodegraft.tables.data_report import Finding
from nodegraft.tables.features.categories import CategoryColumn
from nodegraft.tables.features.embedded import EmbeddedText
from nodegraft.tables.features.encoder import Arrays, ColumnEncoder, Encoded
from nodegraft.tables.features.lists import ListColumn
from nodegraft.tables.features.numbers import NumberColumns
from nodegraft.tables.features.text import (
    FEWEST_DOCUMENTS,
    TextColumns,
    TextVectoriser,
    joined_texts,
    refuse_unused_options,
)
from nodegraft.tables.features.text_encoders import TFIDF
from nodegraft.tables.node_texts import NodeTexts

KINDS: Mapping[str, type[ColumnEncoder]] = {
    "text": TextColumns,
    "numbers": NumberColumns,
    "list": ListColumn,
    "category": CategoryColumn,
    "embedding": EmbeddedText,
}
_OF_TEXT = TextColumns, EmbeddedText
_OF_SEVERAL, _OF_ONE = (*_OF_TEXT, NumberColumns), (ListColumn, CategoryColumn)


@dataclass(frozen=True, eq=False)
class FeatureRecipe:
    """Fitted encoders that convert the columns of a table to features.

    Text becomes TF-IDF features or embedding vectors, numbers are standardised, lists are used
    unchanged, and categories are one-hot encoded. With several encoders, the features of each are
    scaled to rows of length 1 on average. Missing values, and values that were not in the fitted
    table, become 0.

    >>> import pyarrow as pa
    >>> shop = pa.table({"price": [1.0, 3.0], "brand": ["acme", None]})
    >>> recipe = FeatureRecipe.fit(shop, features="price", categories="brand")
    >>> recipe.feature_names, recipe.transform(shop).toarray().round().tolist()
    (['price', 'brand=acme'], [[-1.0, 1.0], [1.0, 0.0]])
    """

    encoders: tuple[ColumnEncoder, ...]
    """Encoders in feature order: for text, for all numbers, then for each list or category."""

    scales: tuple[float, ...]
    """Factor by which each encoder's features are multiplied."""

    node_types: tuple[str, ...] = ()
    """Names of the node types, the classified one first; empty if there is only one. Columns of
    other types are called ``type:column`` (``nodegraft.tables.typed``)."""

    @classmethod
    def fit(
        cls,
        table: Source,
        *,
        text: str | Iterable[str] = (),
        features: str | Iterable[str] = (),
        categories: str | Iterable[str] = (),
        encoder: str | Iterable[str] = TFIDF,
        min_documents: int = FEWEST_DOCUMENTS,
        stop_words: Literal["english"] | None = None,
    ) -> "FeatureRecipe":
        """Fit encoders on a node table.

        Args:
            table: A Parquet or CSV file, or a table in memory.
            text: Names of text columns; their texts are joined.
            features: Names of columns with numbers or with lists of numbers.
            categories: Names of category columns, which have few different values; each value
                becomes a feature.
            encoder: Text encoder, or several whose features are joined: ``tfidf``, ``wordllama``,
                ``sentence-transformers:NAME``, ``model2vec:NAME``, ``fastembed:NAME``, or the name
                of an entry point in the group ``nodegraft.encoders``.
            min_documents: Minimum number of nodes whose text has a word; rarer words are left out.
            stop_words: ``"english"`` to leave out the most common English words; None to use all
                words.
        """
        source = table if isinstance(table, SourceTable) else read_source(table, "nodes")
        texts, numeric, names = column_names(text), column_names(features), column_names(encoder)
        if not texts or TFIDF not in names:
            refuse_unused_options(min_documents, stop_words)
        lists = [name for name in numeric if is_list(source.column(name))]
        numbers = tuple(name for name in numeric if name not in lists)
        encoders: list[ColumnEncoder] = []
        problems = Problems()
        with problems.collect():
            if texts:
                words = TextVectoriser(min_documents, stop_words=stop_words)
                encoders += _text_encoders(source, texts, names, words)
        with problems.collect():
            if numbers:
                encoders.append(NumberColumns.fit(source, numbers))
        for name in lists:
            with problems.collect():
                encoders.append(ListColumn.fit(source, name))
        for name in column_names(categories):
            with problems.collect():
                encoders.append(CategoryColumn.fit(source, name))
        problems.raise_all()
        if not encoders:
            raise DataError(
                "Name at least one column that becomes features: text='…', features=['…'] or "
                "categories=['…']."
            )
        return cls._scaled(encoders, source)

    @classmethod
    def _scaled(cls, encoders: Sequence[ColumnEncoder], table: SourceTable) -> "FeatureRecipe":
        plain = cls(tuple(encoders), (1.0,) * len(encoders))
        return cls(plain.encoders, plain._even_scales(table)) if len(encoders) > 1 else plain

    def with_encoder(self, encoder: str | Iterable[str], table: SourceTable) -> "FeatureRecipe":
        """Return a recipe for the same columns, but with other text encoders.

        Args:
            encoder: Name of the new text encoder, or several names.
            table: Node table on which TF-IDF and the scale factors are fitted.
        """
        texts = [part for part in self.encoders if isinstance(part, _OF_TEXT)]
        if not texts:
            raise DataError("No column of these features is text, so there is no text encoder.")
        fitted = [part.vectoriser for part in texts if isinstance(part, TextColumns)]
        words = fitted[0].unfitted() if fitted else TextVectoriser()
        new = _text_encoders(table, texts[0].columns, column_names(encoder), words)
        others = [part for part in self.encoders if not isinstance(part, _OF_TEXT)]
        return replace(self._scaled([*new, *others], table), node_types=self.node_types)

    def _even_scales(self, table: SourceTable) -> tuple[float, ...]:
        def squares(encoder: ColumnEncoder) -> Iterator[float]:
            for batch in table.batches(*self.columns):
                encoded = encoder.encode(batch, np.arange(len(batch)))
                yield from np.square(row_norms(encoded.matrix)).tolist()

        # Sum with fsum, which is exact, so that the recipe does not depend on the order of rows.
        # Text embeddings are not computed here, because their length is always 1 and encoding all
        # texts may take hours.
        means = [
            1.0 if isinstance(encoder, EmbeddedText) else sqrt(fsum(squares(encoder)) / len(table))
            for encoder in self.encoders
        ]
        return tuple(1.0 / mean if mean > 0 else 1.0 for mean in means)

    def transform(self, table: Source) -> Matrix:
        """Return one feature row for each row of a table.

        Args:
            table: A Parquet or CSV file, or a table in memory, with the columns of the recipe.
        """
        source = table if isinstance(table, SourceTable) else read_source(table, "nodes")
        return self.encode(source, np.arange(len(source))).matrix

    def encode(
        self, table: SourceTable, keys: NDArray[Any], listener: Listener = SILENT
    ) -> Encoded:
        """Return the features of a table, and findings about the table.

        Args:
            table: Node table.
            keys: Node key of each row, shown in findings.
            listener: Listener that receives progress events of text encoders.
        """
        if self.node_types:
            return self._encode_types(table, keys, listener)
        return self._encode(table, keys, listener)

    def _encode_types(self, table: SourceTable, keys: NDArray[Any], listener: Listener) -> Encoded:
        """Encode the nodes of each type by themselves; nodes without columns get zeros."""
        numbers, findings = type_numbers(keys, self.node_types), list[Finding]()
        # Encode no node first, so that the features of nodes without columns have the same type.
        rows = [np.zeros(0, dtype=np.int64)]
        matrices = [self._encode(table.take([]), keys[:0], SILENT).matrix]
        for place, name in enumerate(self.node_types):
            own = np.flatnonzero(numbers == place)
            if own.size and any(self._is_of(name, column) for column in self.columns):
                encoded = self._encode(table.take(own), keys[own], listener, name)
                rows.append(own)
                matrices.append(encoded.matrix)
                findings += encoded.findings
        are_sparse = is_sparse(matrices[0])
        stacked = csr_array(vstack(matrices)) if are_sparse else np.concatenate(matrices)
        given = np.concatenate(rows)
        order = np.argsort(given, kind="stable")
        return Encoded(placed_rows(stacked[order], given[order], len(table)), tuple(findings))

    def _is_of(self, node_type: str, column: str) -> bool:
        return type_of(column, self.node_types) == node_type

    def columns_of(self, node_type: str) -> tuple[str, ...]:
        """Return the columns that the recipe reads for a node type.

        Args:
            node_type: Name of the node type; not used if there is only one.
        """
        if not self.node_types:
            return self.columns
        return tuple(name for name in self.columns if self._is_of(node_type, name))

    def features_of(self, node_type: str) -> NDArray[np.bool_]:
        """Return a mask of the features that are made from columns of a node type.

        Args:
            node_type: Name of the node type.
        """
        own = [set(_read_by(part)) & set(self.columns_of(node_type)) for part in self.encoders]
        sizes = [len(part.feature_names) for part in self.encoders]
        return np.repeat(np.array([bool(part) for part in own], dtype=bool), sizes)

    def _encode(
        self,
        table: SourceTable,
        keys: NDArray[Any],
        listener: Listener,
        node_type: str | None = None,
    ) -> Encoded:
        """Encode a table; findings about columns of other node types are left out.

        Args:
            node_type: Type of the nodes in the table; None if there is only one type.
        """
        together = [
            encoder.encoder if isinstance(encoder, EmbeddedText) else TFIDF
            for encoder in self.encoders
            if isinstance(encoder, _OF_TEXT)
        ]
        parts = [
            encoder.encode(table, keys, listener, together)
            if isinstance(encoder, EmbeddedText)
            else encoder.encode(table, keys)
            for encoder in self.encoders
        ]
        findings = tuple(
            finding
            for encoder, part in zip(self.encoders, parts, strict=True)
            if node_type is None or any(self._is_of(node_type, name) for name in _read_by(encoder))
            for finding in part.findings
        )
        matrices = [
            part.matrix if scale == 1.0 else (part.matrix * np.float32(scale))
            for part, scale in zip(parts, self.scales, strict=True)
        ]
        if not matrices:
            return Encoded(np.zeros((len(table), 0), dtype=np.float32), findings)
        if len(matrices) == 1:
            return Encoded(matrices[0], findings)
        if any(is_sparse(matrix) for matrix in matrices):
            columns = [csr_array(matrix) for matrix in matrices]
            return Encoded(csr_array(hstack(columns, format="csr"), dtype=np.float32), findings)
        return Encoded(np.hstack(matrices).astype(np.float32), findings)

    def without_unused(
        self, unused: NDArray[np.bool_]
    ) -> "tuple[FeatureRecipe, NDArray[np.bool_]]":
        """Return a recipe without unused values, and a mask of the remaining features.

        Unused words and category values are removed. Features of number and list columns are never
        removed: unlike words and category values, their names contain no data of nodes.

        Args:
            unused: Boolean mask of the features that are 0 for all nodes.
        """
        is_kept, encoders, start = ~unused, list[ColumnEncoder](), 0
        for encoder in self.encoders:
            own = slice(start, start := start + len(encoder.feature_names))
            if isinstance(encoder, TextColumns | CategoryColumn):
                encoders.append(encoder.keeping(is_kept[own]))
            else:
                is_kept[own] = True
                encoders.append(encoder)
        return replace(self, encoders=tuple(encoders)), is_kept

    def texts(self, table: SourceTable) -> NodeTexts | None:
        """Return a short text for each row, for display; None if no column is text.

        Args:
            table: Table with the columns of the recipe.
        """
        columns = [encoder.columns for encoder in self.encoders if isinstance(encoder, _OF_TEXT)]
        return NodeTexts.of(joined_texts(table, columns[0])) if columns else None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns that the recipe reads, without duplicates."""
        encoders = sorted(self.encoders, key=lambda encoder: isinstance(encoder, _OF_ONE))
        return tuple(dict.fromkeys(chain.from_iterable(map(_read_by, encoders))))

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Names of the columns that are read as text from a CSV file."""
        texts = [encoder.columns for encoder in self.encoders if isinstance(encoder, _OF_TEXT)]
        values = [
            encoder.column for encoder in self.encoders if isinstance(encoder, CategoryColumn)
        ]
        return (*chain(*texts), *values)

    @property
    def feature_names(self) -> list[str]:
        """Name of each feature: a word, or a column name, with a value or position if needed."""
        return [name for encoder in self.encoders for name in encoder.feature_names]

    @property
    def words(self) -> list[str]:
        """Words of the TF-IDF features if TF-IDF is the first encoder, otherwise empty."""
        first = next(iter(self.encoders), None)
        return first.feature_names if isinstance(first, TextColumns) else []

    @property
    def num_features(self) -> int:
        """Number of features that the recipe makes."""
        return len(self.feature_names)

    @cached_property
    def content_hash(self) -> str:
        """Hash of the fitted encoders; two recipes with equal hashes compute equal features."""
        arrays, document = self.state()
        return content_hash(document, *(arrays[name] for name in sorted(arrays)))

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the fitted state as arrays and JSON."""
        arrays: dict[str, NDArray[Any]] = {}
        parts = []
        for place, encoder in enumerate(self.encoders):
            own, part = encoder.state()
            arrays |= prefixed(f"{place}.", own)
            (kind,) = (name for name, cls in KINDS.items() if isinstance(encoder, cls))
            parts.append({"kind": kind, **part})
        document: dict[str, Any] = {"encoders": parts, "scales": list(self.scales)}
        if self.node_types:
            document["node_types"] = list(self.node_types)
        return arrays, document

    @classmethod
    def from_state(cls, arrays: Arrays, document: Mapping[str, Any]) -> "FeatureRecipe":
        """Restore a recipe from its :meth:`state`.

        Args:
            arrays: Arrays of :meth:`state`.
            document: JSON of :meth:`state`.
        """
        try:
            encoders = tuple(
                KINDS[part["kind"]].from_state(under(f"{place}.", arrays), part)
                for place, part in enumerate(document["encoders"])
            )
            scales = tuple(map(float, document["scales"]))
            places = {str(place) for place in range(len(encoders))}
            claimed = all(name.partition(".")[0] in places for name in arrays)
            if not claimed or len(scales) != len(encoders) or not all(map(isfinite, scales)):
                raise ValueError("scales or arrays do not fit its columns")
            return cls(encoders, scales, check_node_types(document.get("node_types", ())))
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"This is no whole feature recipe: {error!r}.") from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FeatureRecipe) and self.content_hash == other.content_hash

    def __hash__(self) -> int:
        return hash(self.content_hash)

    def __repr__(self) -> str:
        kinds = ", ".join(type(encoder).__name__ for encoder in self.encoders)
        return f"FeatureRecipe({self.num_features:,} features from {kinds})"


def _read_by(encoder: ColumnEncoder) -> tuple[str, ...]:
    """Return the names of the columns that an encoder reads."""
    if isinstance(encoder, _OF_ONE):
        return (encoder.column,)
    return encoder.columns if isinstance(encoder, _OF_SEVERAL) else ()


def _text_encoders(
    table: SourceTable, columns: tuple[str, ...], names: Sequence[str], words: TextVectoriser
) -> list[ColumnEncoder]:
    """Create the text encoders with the given names; TF-IDF is fitted on the table.

    Args:
        words: Unfitted vectoriser, which is fitted if TF-IDF is among the names.
    """
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ParameterError(f"Text encoder {repeated!r} is listed twice: name it once.")
    return [
        TextColumns.fit(table, columns, words) if name == TFIDF else EmbeddedText.of(columns, name)
        for name in names
    ]
