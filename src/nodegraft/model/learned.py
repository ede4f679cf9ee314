"""What a fitted model records: learned attributes, and its requirements on later graphs.

Learned attributes are declared in the class of a method, so that a saved state can be checked.
"""

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.errors import CheckpointError, DataError
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.stores import Recipe
from nodegraft.graph.view import GraphView
from nodegraft.tables.features.recipe import FeatureRecipe

_MARK = "learned"


def learned() -> Any:
    """Declare an attribute that hooks set: ``means_: Matrix = learned()``.

    It is not a parameter of the constructor, and does not exist before it is learned. Its
    annotation decides how it is saved.
    """
    return field(init=False, repr=False, compare=False, metadata={_MARK: True})


@cache
def learned_kinds(cls: type) -> dict[str, str]:
    """Return the learned attributes of a class, and how each is saved.

    ``array`` (NumPy), ``tensor``, ``tensors`` (a dict of them), ``labels`` (by key), or ``json``.
    """
    hints = get_type_hints(cls)
    return {field.name: _kind(hints[field.name]) for field in fields(cls) if is_learned(field)}


def learned_json(cls: type) -> dict[str, Any]:
    """Return the annotations of the learned attributes that are saved as JSON."""
    hints = get_type_hints(cls, include_extras=True)
    return {name: hints[name] for name, kind in learned_kinds(cls).items() if kind == "json"}


def is_learned(one: "Field[Any]") -> bool:
    """Return whether a field of a dataclass was declared by :func:`learned`."""
    return bool(one.metadata.get(_MARK))


def _kind(annotation: Any) -> str:
    origin = get_origin(annotation) or annotation
    if origin is KeyedLabels:
        return "labels"
    if origin is Tensor:
        return "tensor"
    if origin is np.ndarray:
        return "array"
    if annotation == dict[str, Tensor]:
        return "tensors"
    return "json"


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
