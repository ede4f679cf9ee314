"""State of a model: atomic changes, saving and loading.

A change is made on a shallow copy, whose ``__dict__`` then replaces that of the model by one
assignment; each reader gets the dictionary only once. So a failed change has no effect, and a
thread that predicts while another thread changes the model uses one committed state.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from threading import RLock
from typing import Any, Self

from numpy.typing import NDArray

from nodegraft.base.counting import escape_markdown, listed
from nodegraft.base.errors import CheckpointError, NotFittedError, ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.memo import LatestMemo
from nodegraft.base.parameters.build import build, parameters_of
from nodegraft.base.parameters.validate import validate_value
from nodegraft.base.tabular import summary_html
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.model import checkpoint
from nodegraft.model.class_table import ClassTable
from nodegraft.model.hooks import Hooks
from nodegraft.model.learned import GraphInputs, learned, learned_json, learned_kinds
from nodegraft.model.prediction_sets import SetCalibration

_OF_HOOKS = ("_listener", "_checkpoint", "_open_checkpoint")
_OF_A_CHANGE = ("_lock", "_changing", *_OF_HOOKS)
"""Attributes that exist only during a change and are not part of the state."""


@dataclass(kw_only=True)
class Stateful(Hooks):
    """Model with parameters and learned state; changes are made on a copy and are atomic."""

    labels_: KeyedLabels = learned()
    """All training labels: class name -> keys of nodes."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # Set ``__repr__``; otherwise the dataclass decorator adds one that does not show the
        # learned state.
        if "__repr__" not in vars(cls):
            cls.__repr__ = Stateful.__repr__  # type: ignore[method-assign]

    @property
    def classes_(self) -> tuple[str, ...]:
        """Names of the known classes, in column order."""
        return self._table.names

    @property
    def _table(self) -> ClassTable:
        return self.__dict__.get("_known", ClassTable())  # type: ignore[no-any-return]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the hyper-parameters by name.

        Args:
            deep: Ignored, because no hyper-parameter has parameters of its own.
        """
        return parameters_of(self)

    def set_params(self, **parameters: Any) -> Self:
        """Set hyper-parameters. This drops the learned state: call ``fit`` again.

        Args:
            parameters: Hyper-parameters by name. The learned state is not dropped if no value
                changes, or if only ``adjustable`` ones change (``world``, ``device``, and
                ``batch`` and ``fan_out`` of networks), which apply from the next call on.
        """
        fresh = build(type(self), {**self.get_params(), **parameters})
        before, after = self.get_params(), fresh.get_params()
        changed = {name for name in after if after[name] != before[name]}
        if changed:
            with self._change(SILENT) as draft:
                if changed <= self.adjustable:
                    vars(draft).update({name: after[name] for name in changed})
                else:
                    draft.__dict__ = {**vars(fresh), "_lock": vars(draft)["_lock"]}
        return self

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in self._changed().items())
        if not len(self._table):
            return f"{type(self).__name__}({parameters})"
        names = self.classes_
        first = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        return (
            f"<{type(self).__name__}({parameters}) that knows {len(names)} classes ({first}) from "
            f"{self.labels_.num_nodes:,} labels, session {self._table.session}>"
        )

    def _repr_html_(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in self._changed().items())
        facts = [("parameters", parameters or "all default"), ("classes", "none: call fit")]
        if len(self._table):
            counts = [f"{name} {count:,}" for name, count in self._table.counts().items()]
            facts[1:] = [
                ("classes", f"{len(counts):,}"),
                ("training labels", f"{self.labels_.num_nodes:,}: {listed(counts)}"),
                ("latest session", f"{self._table.session}"),
            ]
        return summary_html(f"{type(self).__name__} ({self.name})", facts)

    def _changed(self) -> dict[str, Any]:
        """Return the hyper-parameters whose values differ from the defaults."""
        return {
            name: value
            for name, value in self.get_params().items()
            if value != getattr(type(self), name, None)
        }

    def _now(self) -> Self:
        """Return a snapshot of the model, which later changes do not affect."""
        copy = object.__new__(type(self))
        vars(copy).update(vars(self))
        return copy

    def _trial(self) -> Self:
        """Return an independent copy, which can learn other labels."""
        copy = self._now()
        for name in _OF_A_CHANGE:
            vars(copy).pop(name, None)
        return copy

    @contextmanager
    def _change(self, listener: Listener) -> Iterator[Self]:
        """Yield a copy of the model to change.

        If no error occurs, it replaces the state of this model.
        """
        if not isinstance(listener, Listener):
            raise ParameterError(f"A listener is a nodegraft.Listener, not {listener!r}.")
        # Allow one writer at a time: of two concurrent changes, one would be lost.
        with vars(self).setdefault("_lock", RLock()):
            if "_changing" in vars(self):
                raise ParameterError(
                    "This model is learning: a listener may watch, but not change the model."
                )
            draft = self._now()
            vars(draft)["_listener"] = listener
            vars(self)["_changing"] = True
            try:
                yield draft
                for name in _OF_HOOKS:
                    vars(draft).pop(name, None)
                draft._check_declared()
                self.__dict__ = vars(draft)
            finally:
                vars(self).pop("_changing", None)

    def _start(self, inputs: GraphInputs, labels: KeyedLabels) -> None:
        self._inputs = inputs
        self._set_calibration = LatestMemo[SetCalibration]()
        self._know(ClassTable(), labels)

    def _know(self, table: ClassTable, labels: KeyedLabels) -> None:
        self._known, self.labels_ = table, labels

    def _check_declared(self) -> None:
        declared = learned_kinds(type(self))
        missing = [name for name in declared if name not in vars(self)] if self._table else []
        if missing:
            raise CheckpointError(
                f"{self.name} declares {missing[0]!r} as learned and did not set it: set it in "
                "learn_base."
            )
        known = {*self.get_params(), *declared}
        for name in vars(self):
            if name not in known and not name.startswith("_") and name.endswith("_"):
                raise CheckpointError(
                    f"{self.name} learned {name!r}, which its class does not declare: write "
                    f"`{name}: … = learned()` beside its parameters."
                )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _OF_A_CHANGE}

    # The next methods save and load the model.

    def state(self) -> checkpoint.State:
        """Return the learned state as arrays and JSON."""
        return checkpoint.pack(*self._learned())

    def kept_bytes(self) -> int:
        """Return the size of the learned state in bytes."""
        return checkpoint.kept_bytes(*self._learned())

    def _learned(self) -> tuple[dict[str, Any], dict[str, str]]:
        kinds = learned_kinds(type(self))
        return {name: value for name, value in vars(self).items() if name in kinds}, kinds

    def save(self, directory: str | Path) -> None:
        """Save the model in a new directory, as safetensors, JSON and a model card.

        Args:
            directory: New directory; it must not exist.
        """
        model = self._now()
        header, recipe = model._header()
        checkpoint.write_model(Path(directory), header, model.state(), model._card(), recipe)

    def packed(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the whole model as arrays and JSON, as :meth:`save` writes it."""
        model = self._now()
        header, recipe = model._header()
        return checkpoint.pack_model(header, model.state(), recipe)

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
        """Load a model from a directory.

        Args:
            directory: Directory that :meth:`save` wrote.
        """
        saved = checkpoint.read_model(Path(directory))
        if saved.header["method"] != cls.name:
            raise CheckpointError(
                f"{directory} holds a {saved.header['method']} model, not {cls.name}: use "
                "load_model."
            )
        return cls.from_saved(saved)

    @classmethod
    def from_saved(cls, saved: checkpoint.SavedModel) -> Self:
        """Restore a model from the content of its directory.

        Args:
            saved: Content of the directory.
        """
        try:
            model = build(cls, saved.header["parameters"])
        except ParameterError as error:
            raise CheckpointError(f"The saved parameters do not fit: {error}") from error
        vars(model).update(checkpoint.unpack(saved.state, learned_kinds(cls)))
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
                f"The saved state does not fit together: {error}. {checkpoint.OTHERS}"
            ) from error
        return model

    @property
    def recipe(self) -> Any:
        """Recipe of the features that the model was fitted on.

        Use it as ``read_graph(…, recipe=model.recipe)``. None if the graph was not read from
        tables, or if the model is not fitted.
        """
        return self._inputs.recipe if len(self._table) else None

    def _card(self) -> str:
        rows = "\n".join(
            f"| {escape_markdown(known.name)} | {known.session} | {known.labels} |"
            for known in self._table.classes
        )
        return (
            f"# {self.name}\n\n{self.summary}\n\n"
            f"{len(self._table)} classes, {self.kept_bytes():,} bytes of learned state, "
            f"nodegraft {version('nodegraft')}.\n\n"
            f"| class | learned in session | labelled nodes |\n|---|---|---|\n{rows}\n"
        )
