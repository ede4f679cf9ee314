"""Requirements of a model on graphs: type of keys, number of features, recipe."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from nodegraft.base.errors import CheckpointError, DataError
from nodegraft.graph.stores.protocol import Recipe
from nodegraft.graph.view import GraphView
from nodegraft.tables.features.recipe import FeatureRecipe


@dataclass(frozen=True)
class GraphInputs:
    """Requirements that are recorded by ``fit``; later graphs must meet them."""

    num_features: int
    """Number of feature columns."""

    text_keys: bool
    """Whether node keys are text rather than integers."""

    recipe: Recipe | None
    """Recipe of the features, if they were made from tables."""

    @classmethod
    def of(cls, graph: GraphView) -> "GraphInputs":
        """Return the requirements that a graph defines."""
        return cls(graph.num_features, graph.has_text_keys, graph.recipe)

    def check(self, graph: GraphView) -> None:
        """Raise an error if the keys or features of a graph do not fit."""
        if graph.num_features != self.num_features:
            raise DataError(
                f"The model was fitted on {self.num_features} features, this graph has "
                f"{graph.num_features}: read its tables with recipe=model.recipe."
            )
        both = self.recipe is not None and graph.recipe is not None
        if both and graph.recipe.content_hash != self.recipe.content_hash:  # type: ignore[union-attr]
            raise DataError(
                "The features of this graph were made by another recipe than those the model was "
                "fitted on, so its columns mean something else: read its tables with "
                "recipe=model.recipe."
            )
        if graph.num_nodes and graph.has_text_keys != self.text_keys:
            kinds = ("integers", "text")
            raise DataError(
                f"The model knows nodes by {kinds[self.text_keys]}, the keys of this graph are "
                f"{kinds[graph.has_text_keys]}: read the column of keys in the same type."
            )

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the requirements as arrays and JSON."""
        arrays: dict[str, NDArray[Any]] = {}
        document: dict[str, Any] | None = None
        if isinstance(self.recipe, FeatureRecipe):
            arrays, document = self.recipe.state()
        fields = {
            "num_features": self.num_features,
            "text_keys": self.text_keys,
            "recipe": document,
        }
        return arrays, fields

    @classmethod
    def from_state(
        cls, arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]
    ) -> "GraphInputs":
        """Read requirements that :meth:`state` returned.

        Args:
            header: JSON, with other fields beside those of :meth:`state`.
        """
        recipe = None
        if header["recipe"] is not None:
            recipe = FeatureRecipe.from_state(arrays, header["recipe"])
        if recipe is not None and recipe.num_features != header["num_features"]:
            raise CheckpointError(
                f"The saved recipe makes {recipe.num_features} features, the model has "
                f"{header['num_features']}."
            )
        return cls(header["num_features"], header["text_keys"], recipe)
