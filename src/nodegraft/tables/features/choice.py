"""The user's choice of which table columns become features."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from nodegraft.base.errors import ParameterError
from nodegraft.tables.columns import SourceTable, column_names
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.features.text import FEWEST_DOCUMENTS, refuse_unused_options
from nodegraft.tables.features.text_encoders import TFIDF
from nodegraft.tables.files import matching


@dataclass(frozen=True)
class FeatureChoice:
    """Names of the feature columns with options for their encoders, or an existing recipe."""

    text: tuple[str, ...]
    """Names of text columns."""

    features: tuple[str, ...]
    """Names of columns with numbers or lists of numbers."""

    categories: tuple[str, ...]
    """Names of category columns, which have few different values."""

    encoder: tuple[str, ...] = (TFIDF,)
    """Names of the text encoders."""

    min_documents: int = FEWEST_DOCUMENTS
    """Minimum number of nodes whose text has a word; rarer words are left out."""

    stop_words: Literal["english"] | None = None
    """``"english"`` to leave out the most common English words; None to use all words."""

    recipe: FeatureRecipe | None = None
    """Existing feature recipe to use; None to fit a new recipe."""

    by_default: bool = False
    """Whether the user named no column; the column ``features`` is then used if it exists."""

    @classmethod
    def of(
        cls,
        *,
        text: str | Iterable[str],
        features: str | Iterable[str] | None,
        categories: str | Iterable[str],
        recipe: FeatureRecipe | None,
        encoder: str | Iterable[str],
        min_documents: int,
        stop_words: Literal["english"] | None,
    ) -> "FeatureChoice":
        """Check the user's arguments; return them as a choice.

        If no column is named, the table's column ``features`` is used.

        Args:
            features: Names of columns with numbers or lists of numbers. None for a graph without
                features, if no other column is named.
        """
        encoders = column_names(encoder) or (TFIDF,)
        texts, numbers, values = map(column_names, (text, features, categories))
        is_named = bool(texts or numbers or values)
        if recipe is not None:
            if not isinstance(recipe, FeatureRecipe):
                raise ParameterError(f"A recipe is a nodegraft.FeatureRecipe, not {recipe!r}.")
            if is_named or encoders != (TFIDF,):
                raise ParameterError(
                    "A recipe says which columns become features, and by which text encoder: name "
                    "none beside it."
                )
        elif not texts and encoders != (TFIDF,):
            raise ParameterError(
                "A text encoder needs columns of text: give text=… (--text) beside encoder=… "
                "(--encoder)."
            )
        if recipe is not None or not texts or TFIDF not in encoders:
            refuse_unused_options(min_documents, stop_words)
        by_default = recipe is None and not is_named and features is not None
        return cls(
            texts,
            ("features",) if by_default else numbers,
            values,
            encoders,
            min_documents,
            stop_words,
            recipe,
            by_default,
        )

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Names of the columns that are read as text from a CSV file."""
        return self.recipe.text_columns if self.recipe else (*self.text, *self.categories)

    def expanded(self, table: SourceTable, excluded: Iterable[str]) -> "FeatureChoice":
        """Return the choice with globs such as ``e*`` replaced by the names of matching columns.

        Args:
            excluded: Names of columns that globs must not match, such as key and label columns.
        """

        def matches(columns: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(matching(columns, table.column_names, excluded))

        return replace(
            self,
            text=matches(self.text),
            features=matches(self.features),
            categories=matches(self.categories),
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the node table must have."""
        if self.recipe is not None:
            return self.recipe.columns
        return () if self.by_default else (*self.text, *self.features, *self.categories)

    def fitted(
        self, table: SourceTable, key: str, node_types: tuple[str, ...] = ()
    ) -> FeatureRecipe:
        """Return the existing recipe; if there is none, fit a new recipe on a table.

        If the table has only a key column, the recipe has no features.
        """
        if self.recipe is not None:
            return self.recipe
        is_bare = self.by_default and table.column_names == [key]
        if is_bare or not (self.text or self.features or self.categories):
            return FeatureRecipe((), (), node_types)
        fitted = FeatureRecipe.fit(
            table,
            text=self.text,
            features=self.features,
            categories=self.categories,
            encoder=self.encoder,
            min_documents=self.min_documents,
            stop_words=self.stop_words,
        )
        return replace(fitted, node_types=node_types) if node_types else fitted

    def to_json(self) -> dict[str, Any]:
        """Return the choice as JSON."""
        return {**vars(self), "recipe": self.recipe.content_hash if self.recipe else None}
