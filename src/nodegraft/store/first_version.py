"""First version of a store: labels and model, for one label or several labels per node."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import Connection

from nodegraft.analysis.accuracy import count_correct
from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.snapshot import State, first_state
from nodegraft.base.errors import SeveralLabelsError
from nodegraft.base.events import Listener
from nodegraft.base.measure import Measurement
from nodegraft.base.parameters.build import build
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.graph.labels import NodeLabels
from nodegraft.model.confidence import DEFAULT_WORLD, World
from nodegraft.model.registry import has_open_set_score
from nodegraft.store.intent import Intent
from nodegraft.store.label_changes import fit_measures
from nodegraft.store.parts import SEVERAL_LABELS
from nodegraft.store.settings import WORLD, refuse_open_world, set_value

if TYPE_CHECKING:
    from nodegraft.analysis.label_sets.state import LabelSetState


@dataclass
class FirstVersion(ABC):
    """Labels and model that a new store begins with; :meth:`Store.init` describes the fields."""

    labels: Mapping[str, Iterable[Key]]
    """Class name -> keys of its nodes."""

    method: str
    """Name of the method."""

    parameters: dict[str, Any]
    """Hyper-parameters of the method."""

    world: World | None
    """Whether nodes may belong to unknown classes; None for the default of the method."""

    parents: Mapping[str, str | None]
    """Class -> its parent in the class tree."""

    detail: ClassVar[dict[str, Any]] = {}
    """Fields to store in the detail of the version."""

    @abstractmethod
    def check(self, graph: Graph) -> None:
        """Raise an error for unusable labels or options, before the slow fit."""

    @abstractmethod
    def fitted(
        self, graph: Graph, listener: Listener
    ) -> "tuple[State | LabelSetState, dict[str, Any]]":
        """Return the state with a fitted model, and measurements to store with the version."""

    @abstractmethod
    def write_settings(self, connection: Connection, intent: Intent) -> None:
        """Write settings of the store that depend on the method."""


class OneLabel(FirstVersion):
    """First version of a store with one label per node."""

    def check(self, graph: Graph) -> None:
        """Raise an error for unusable labels or an impossible world."""
        _ = self._world
        NodeLabels.by_key(graph, self.labels)
        _ = self._checked

    def fitted(self, graph: Graph, listener: Listener) -> tuple[State, dict[str, Any]]:
        """Fit the method; measure accuracy on held-out labels."""
        labels = self._checked
        with Measurement() as fit:
            state = first_state(graph, labels, self.method, self.parameters, listener)
            state = state.in_world(self._world)
        right = count_correct(state, labels.held_out).to_json()
        return state, {"after": right} | fit_measures(labels, fit.seconds)

    def write_settings(self, connection: Connection, intent: Intent) -> None:
        """Write the setting ``world``."""
        # If the method has no open-set score, the world is always closed and the setting is not
        # used.
        if has_open_set_score(self.method):
            set_value(connection, WORLD.name, self._world, intent)

    @cached_property
    def _checked(self) -> StoreLabels:
        # Similar class names are allowed here; the report on the tables warns of them.
        labels = StoreLabels().added(self.labels, force_name=True)
        return labels.moved(self.parents, force_name=True) if self.parents else labels

    @cached_property
    def _world(self) -> World:
        if self.world is not None:
            validate_value("world", self.world, World)
        if has_open_set_score(self.method):
            return self.world or DEFAULT_WORLD
        if self.world == "open":
            refuse_open_world(self.method)
        return "closed"


class SeveralLabels(FirstVersion):
    """First version of a store with several labels per node; all labels are learned."""

    detail: ClassVar[dict[str, Any]] = {SEVERAL_LABELS: True}

    def check(self, graph: Graph) -> None:
        """Raise an error for options that a store with several labels per node does not have."""
        from nodegraft.methods.multi_label.model import METHOD, MultiLabel, check_graph

        if self.method not in ("graft", METHOD):
            raise SeveralLabelsError(f"The method {self.method}")
        if self.world is not None:
            raise SeveralLabelsError("An open or closed world")
        if self.parents:
            raise SeveralLabelsError("A class tree")
        build(MultiLabel, self.parameters)
        check_graph(graph)

    def fitted(self, graph: Graph, listener: Listener) -> "tuple[LabelSetState, dict[str, Any]]":
        """Fit the model; nothing is held out."""
        from nodegraft.analysis.label_sets.preview import single_label_warnings
        from nodegraft.analysis.label_sets.state import LabelSetState
        from nodegraft.methods.multi_label.model import MultiLabel

        with Measurement() as fit:
            state = LabelSetState(graph, build(MultiLabel, self.parameters))
            # Similar class names are allowed here; the report on the tables warns of them.
            state.model.fit(graph, self.labels, force_name=True)
            state.predict(graph.targets[:1])
        warnings = single_label_warnings(
            name for name, keys in state.labels.items() if len(keys) == 1
        )
        sizes = {"labels": state.labels.num_labels, "seconds": round(fit.seconds, 1)}
        return state, sizes | {"warnings": warnings}

    def write_settings(self, connection: Connection, intent: Intent) -> None:
        """Write nothing: no setting has a meaning here."""
