"""Save models to disk as a whole, and load them with all checks."""

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from numpy.typing import NDArray

from nodegraft.base.errors import CheckpointError, NotFittedError, ParameterError
from nodegraft.base.parameters.build import build
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.model.checkpoint import (
    OTHERS,
    SavedModel,
    State,
    kept_bytes,
    pack,
    pack_model,
    read_model,
    unpack,
    write_model,
)
from nodegraft.model.class_table import ClassTable
from nodegraft.model.inputs import GraphInputs
from nodegraft.model.learned import learned_json, learned_kinds
from nodegraft.model.stateful import Stateful


@dataclass(kw_only=True)
class Saveable(Stateful):
    """Model that can be saved as bytes or as a folder, and loaded."""

    def state(self) -> State:
        """Return the learned state as arrays and JSON."""
        return pack(*self._learned())

    def kept_bytes(self) -> int:
        """Return the size of the learned state in bytes."""
        return kept_bytes(*self._learned())

    def _learned(self) -> tuple[dict[str, Any], dict[str, str]]:
        kinds = learned_kinds(type(self))
        return {name: value for name, value in vars(self).items() if name in kinds}, kinds

    def save(self, directory: str | Path) -> None:
        """Write a new directory with safetensors, JSON and a short card.

        Args:
            directory: Where to; it must not exist.
        """
        model = self._now()
        header, recipe = model._header()
        write_model(Path(directory), header, model.state(), model._card(), recipe)

    def packed(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the whole model as arrays and JSON, as :meth:`save` writes it."""
        model = self._now()
        header, recipe = model._header()
        return pack_model(header, model.state(), recipe)

    def _header(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        if not len(self._table):
            raise NotFittedError(self.name)
        recipe, inputs = self._inputs.state()
        header = {
            "method": self.name,
            "parameters": self.get_params(),
            "classes": self._table.to_json(),
            **inputs,
            "nodegraft": version("nodegraft"),
        }
        return header, recipe

    @classmethod
    def load(cls, directory: str | Path) -> Self:
        """Load the model from a directory.

        Args:
            directory: What :meth:`save` wrote.
        """
        saved = read_model(Path(directory))
        if saved.header["method"] != cls.name:
            raise CheckpointError(
                f"{directory} holds a {saved.header['method']} model, not {cls.name}: use "
                "load_model."
            )
        return cls.from_saved(saved)

    @classmethod
    def from_saved(cls, saved: SavedModel) -> Self:
        """Build the model from its saved form.

        Args:
            saved: What its directory holds.
        """
        try:
            model = build(cls, saved.header["parameters"])
        except ParameterError as error:
            raise CheckpointError(f"The saved parameters do not fit: {error}") from error
        vars(model).update(unpack(saved.state, learned_kinds(cls)))
        table = ClassTable.from_json(saved.header["classes"])
        keys: KeyedLabels = getattr(model, "labels_", KeyedLabels({}))
        counts = [(name, len(members)) for name, members in keys.items()]
        if counts != list(table.counts().items()):
            raise CheckpointError("The saved labels are not those of the classes that are saved.")
        model._start(GraphInputs.from_state(saved.recipe, saved.header), keys)
        model._know(table, keys)
        try:
            for name, hint in learned_json(cls).items():
                validate_value(name, getattr(model, name), hint)
            model.check_learned()
        except (KeyError, ValueError, TypeError, ParameterError) as error:
            raise CheckpointError(
                f"The saved state does not fit together: {error}. {OTHERS}"
            ) from error
        return model

    @property
    def recipe(self) -> Any:
        """Recipe of the features it was fitted on: ``read_graph(…, recipe=model.recipe)``.

        None where the graph did not come from tables.
        """
        return self._inputs.recipe if len(self._table) else None

    def _card(self) -> str:
        rows = "\n".join(
            f"| {known.name} | {known.session} | {known.labels} |" for known in self._table.classes
        )
        return (
            f"# {self.name}\n\n{self.summary}\n\n"
            f"{len(self._table)} classes, {self.kept_bytes():,} bytes of learned state, "
            f"nodegraft {version('nodegraft')}.\n\n"
            f"| class | learned in session | labelled nodes |\n|---|---|---|\n{rows}\n"
        )
