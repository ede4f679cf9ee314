"""Learned attributes of a model, and requirements that later graphs must meet.

Learned attributes are declared in the class of a method, so that a loaded state can be checked.
"""

import sys
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import CheckpointError, DataError
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.stores import Recipe
from nodegraft.graph.view import GraphView
from nodegraft.tables.features.recipe import FeatureRecipe

_MARK = "learned"


def learned() -> Any:
    """Declare a learned attribute, such as ``means_: Matrix = learned()``; hooks set its value.

    The attribute is not a parameter of the constructor, and does not exist before ``fit``. Its type
    annotation decides how it is saved.
    """
    return field(init=False, repr=False, compare=False, metadata={_MARK: True})


@cache
def learned_kinds(cls: type) -> dict[str, str]:
    """Return learned attribute -> storage kind, for a class.

    Storage kinds are ``array`` (NumPy), ``tensor``, ``tensors`` (a dict of tensors), ``labels`` (by
    key) and ``json``.
    """
    hints = get_type_hints(cls)
    return {field.name: _kind(hints[field.name]) for field in fields(cls) if is_learned(field)}


def learned_json(cls: type) -> dict[str, Any]:
    """Return learned attribute -> type annotation, for attributes that are saved as JSON."""
    hints = get_type_hints(cls, include_extras=True)
    return {name: hints[name] for name, kind in learned_kinds(cls).items() if kind == "json"}


def is_learned(parameter: "Field[Any]") -> bool:
    """Return whether a dataclass field was declared with :func:`learned`."""
    return bool(parameter.metadata.get(_MARK))


def _kind(annotation: Any) -> str:
    origin = get_origin(annotation) or annotation
    if origin is KeyedLabels:
        return "labels"
    if _is_tensor_type(origin):
        return "tensor"
    if origin is np.ndarray:
        return "array"
    if origin is dict and _is_tensor_type(get_args(annotation)[1]):
        return "tensors"
    return "json"


def _is_tensor_type(annotation: Any) -> bool:
    torch = sys.modules.get("torch")  # A class with such an annotation has imported it.
    return torch is not None and annotation is torch.Tensor


@dataclass(frozen=True)
class GraphInputs:
    """Requirements on later graphs: features and key type of the graph given to ``fit``."""

    num_features: int
    """Number of feature columns."""

    text_keys: bool
    """Whether node keys are text; otherwise they are integers."""

    recipe: Recipe | None
    """Feature recipe; None if the graph was not read from tables."""

    @classmethod
    def of(cls, graph: GraphView) -> "GraphInputs":
        """Return the requirements that follow from the graph of ``fit``."""
        return cls(graph.num_features, graph.has_text_keys, graph.recipe)

    def check(self, graph: GraphView) -> None:
        """Raise an error if key type or features of a graph do not meet the requirements."""
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
        """Restore requirements from their :meth:`state`.

        Args:
            header: JSON of :meth:`state`; it may have additional fields.
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
