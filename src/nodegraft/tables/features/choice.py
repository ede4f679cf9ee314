"""Which columns of a table become features, as a user says it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from nodegraft.base.errors import ParameterError
from nodegraft.tables.columns import SourceTable, column_names
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.files import matching


@dataclass(frozen=True)
class FeatureChoice:
    """Columns that are named, or a recipe that knows them."""

    text: tuple[str, ...]
    """Columns of text."""

    features: tuple[str, ...]
    """Columns of numbers or of lists of numbers."""

    categories: tuple[str, ...]
    """Columns with few different values."""

    min_documents: int = 3
    """Words that occur in the text of fewer nodes are left out."""

    stop_words: Literal["english"] | None = None
    """``"english"`` leaves out the most common English words."""

    recipe: FeatureRecipe | None = None
    """How features are made, where that is known already."""

    by_default: bool = False
    """Whether no column was named, so that a column ``features`` is taken."""

    @classmethod
    def of(
        cls,
        *,
        text: str | Iterable[str],
        features: str | Iterable[str] | None,
        categories: str | Iterable[str],
        recipe: FeatureRecipe | None,
        **words: Any,
    ) -> "FeatureChoice":
        """Checked: a recipe stands alone, and without any name the column ``features`` is taken.

        Args:
            text: One column or several.
            features: One column or several; None for a graph without features, if no other column
                is named.
            categories: One column or several.
            recipe: Instead of naming columns.
            words: The other fields.
        """
        texts, numbers, values = map(column_names, (text, features, categories))
        is_named = bool(texts or numbers or values)
        if recipe is not None:
            if not isinstance(recipe, FeatureRecipe):
                raise ParameterError(f"A recipe is a nodegraft.FeatureRecipe, not {recipe!r}.")
            if is_named:
                raise ParameterError(
                    "A recipe says which columns become features: name none beside it."
                )
        elif not is_named and features is not None:
            return cls(texts, ("features",), values, by_default=True, **words)
        return cls(texts, numbers, values, recipe=recipe, **words)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns whose values are read as text, whatever they look like in a CSV file."""
        return self.recipe.text_columns if self.recipe else (*self.text, *self.categories)

    def expanded(self, table: SourceTable, excluded: Iterable[str]) -> "FeatureChoice":
        """Return a choice in which globs such as ``e*`` are replaced by the columns they match.

        Args:
            table: The table of nodes.
            excluded: Columns that no glob matches: keys and labels are no features.
        """

        def found(wanted: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(matching(wanted, table.column_names, excluded))

        return replace(
            self,
            text=found(self.text),
            features=found(self.features),
            categories=found(self.categories),
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that were named."""
        if self.recipe is not None:
            return self.recipe.columns
        return () if self.by_default else (*self.text, *self.features, *self.categories)

    def fitted(self, table: SourceTable, key: str) -> FeatureRecipe:
        """The recipe, which learns from a table unless it was given.

        A table that has only keys makes a graph without features, known by its edges alone.

        Args:
            table: The table of nodes.
            key: The column of keys.
        """
        if self.recipe is not None:
            return self.recipe
        is_bare = self.by_default and table.column_names == [key]
        if is_bare or not (self.text or self.features or self.categories):
            return FeatureRecipe((), ())
        return FeatureRecipe.fit(
            table,
            text=self.text,
            features=self.features,
            categories=self.categories,
            min_documents=self.min_documents,
            stop_words=self.stop_words,
        )

    def to_json(self) -> dict[str, Any]:
        """All that the features of a table depend on, as JSON."""
        return {**vars(self), "recipe": self.recipe.content_hash if self.recipe else None}
