"""State of a model as a value, and changes that are applied as a whole or not at all.

A change is made on a shallow copy and put in place by one assignment of ``__dict__``; a reader
takes the dictionary once. So a change that fails leaves no trace, and a thread that predicts while
another one changes the model uses one committed state.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import Any, Self

from nodegraft.base.errors import CheckpointError, ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.memo import LatestMemo
from nodegraft.base.parameters.build import build, parameters_of
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.model.class_table import ClassTable
from nodegraft.model.hooks import Hooks
from nodegraft.model.inputs import GraphInputs
from nodegraft.model.learned import learned, learned_kinds
from nodegraft.model.prediction_sets import SetCalibration

_OF_A_CHANGE = ("_lock", "_changing", "_listener")
"""Attributes that a model has only while it is changed."""


@dataclass(kw_only=True)
class Stateful(Hooks):
    """Parameters and learned state; a change is made on a copy and replaces the state at once."""

    labels_: KeyedLabels = learned()
    """All training labels: class name -> keys of nodes."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # Otherwise the decorator would write one that says nothing of what was learned.
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
            deep: Without effect: no hyper-parameter has parameters of its own.
        """
        return parameters_of(self)

    def set_params(self, **parameters: Any) -> Self:
        """Set hyper-parameters. The learned state is dropped: call ``fit`` again.

        Args:
            parameters: Hyper-parameters by name; where all are as before, nothing happens. If only
                ``world`` changes, nothing is dropped: nothing that is learned depends on it.
        """
        fresh = build(type(self), {**self.get_params(), **parameters})
        before, after = self.get_params(), fresh.get_params()
        changed = {name for name in after if after[name] != before[name]}
        if changed:
            with self._change(SILENT) as draft:
                if changed == {"world"}:
                    vars(draft)["world"] = after["world"]
                else:
                    draft.__dict__ = {**vars(fresh), "_lock": vars(draft)["_lock"]}
        return self

    def __repr__(self) -> str:
        changed = {
            name: value
            for name, value in self.get_params().items()
            if value != getattr(type(self), name, None)
        }
        told = ", ".join(f"{name}={value!r}" for name, value in changed.items())
        if not len(self._table):
            return f"{type(self).__name__}({told})"
        names = self.classes_
        shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        return (
            f"<{type(self).__name__}({told}) that knows {len(names)} classes ({shown}) from "
            f"{self.labels_.num_nodes:,} labels, session {self._table.session}>"
        )

    def _now(self) -> Self:
        """Return the current model as a value that no later change affects."""
        copy = object.__new__(type(self))
        vars(copy).update(vars(self))
        return copy

    def _trial(self) -> Self:
        """Return a copy for other labels, whose results are not cached for this model."""
        copy = self._now()
        for name in _OF_A_CHANGE:
            vars(copy).pop(name, None)
        return copy

    @contextmanager
    def _change(self, listener: Listener) -> Iterator[Self]:
        """Yield a copy to change, which replaces the state of this model if no error occurs."""
        if not isinstance(listener, Listener):
            raise ParameterError(f"A listener is a nodegraft.Listener, not {listener!r}.")
        # One writer at a time: of two that start from the same model one would be lost.
        with vars(self).setdefault("_lock", RLock()):
            if "_changing" in vars(self):
                raise ParameterError(
                    "This model is being taught: a listener may watch that, not change the model."
                )
            draft = self._now()
            vars(draft)["_listener"] = listener
            vars(self)["_changing"] = True
            try:
                yield draft
                vars(draft).pop("_listener", None)
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
