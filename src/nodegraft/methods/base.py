"""A method as its user knows it: fit, add classes, predict, save, load."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.errors import (
    CheckpointError,
    DataError,
    NotFittedError,
    NotSupportedError,
    ParameterError,
)
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.measure import Measurement
from nodegraft.base.parameters import build
from nodegraft.base.registry import Registry
from nodegraft.checkpoint import State, pack, read_model, unpack, write_model
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.graph.labels import Labelled
from nodegraft.graph.matrix import IntArray, Matrix
from nodegraft.graph.stream import Curriculum
from nodegraft.graph.view import GraphView
from nodegraft.memory.classes import ClassTable
from nodegraft.methods.hooks import Capability, Hooks

Labels = Labelled | Mapping[str, Iterable[Key]]


@dataclass(frozen=True)
class Added:
    """What :meth:`nodegraft.Method.add_classes` did."""

    classes: tuple[str, ...]
    session: int
    seconds: float
    peak_bytes: int
    kept_bytes: int


@dataclass(kw_only=True)
class Method(Hooks):
    """What a user calls, and the bookkeeping behind it: names, keys, checks, saving, roll-back."""

    @property
    def classes_(self) -> tuple[str, ...]:
        """Names of the known classes, in column order."""
        return self._table.names

    @property
    def _table(self) -> ClassTable:
        return self.__dict__.get("_known", ClassTable())  # type: ignore[no-any-return]

    def fit(
        self,
        graph: Graph | GraphView,
        labels: Labels | Curriculum,
        *,
        listener: Listener = SILENT,
    ) -> Self:
        """Learn the first classes; anything learned before is dropped, unless this fails."""
        view = _view(graph)
        if not isinstance(labels, Curriculum):
            labels = Curriculum.from_labels(_labelled(view, labels))
        table = ClassTable().add(_shots(labels.train), session=0)
        with _AllOrNothing(self, listener):
            self._forget()
            self._features = view.num_features
            self.learn_base(view, labels)
            self._known, self._session = table, 0
        return self

    def add_classes(
        self, graph: Graph | GraphView, labels: Labels, *, listener: Listener = SILENT
    ) -> Added:
        """Learn more classes from a few nodes each; on any error the model stays as it was."""
        view = self._checked(graph)
        support = _labelled(view, labels)
        session = self._session + 1
        table = self._table.add(_shots(support), session)
        with _AllOrNothing(self, listener):
            with Measurement() as work:
                self.learn_classes(view, support)
            self._known, self._session = table, session
            kept = self.state().nbytes
        return Added(support.classes, session, work.seconds, work.peak_bytes, kept)

    def add_labels(
        self, graph: Graph | GraphView, labels: Labels, *, listener: Listener = SILENT
    ) -> None:
        """Learn from more nodes of classes that are known already, if the method can."""
        view = self._checked(graph)
        support = _labelled(view, labels)
        table, columns = self._table.extend(_shots(support))
        with _AllOrNothing(self, listener):
            self.learn_more(view, support, columns)
            self._known = table

    def remove_classes(self, names: Iterable[str]) -> None:
        """Forget classes by name, if the method can."""
        table, kept = self._table.remove(names)
        with _AllOrNothing(self, self.listener):
            self.unlearn_classes(kept)
            self._known = table

    def predict(self, graph: Graph | GraphView, nodes: Sequence[Key]) -> list[str]:
        """The most likely class name of each node."""
        names = np.array(self.classes_, dtype=object)
        predicted: list[str] = names[self._scores(graph, nodes).argmax(axis=1)].tolist()
        return predicted

    def predict_or_refuse(
        self, graph: Graph | GraphView, nodes: Sequence[Key], at_least: float = 0.9
    ) -> list[str | None]:
        """The class of each node, or None where it is less likely than ``at_least``.

        A node may be of no known class at all. Only for methods whose probabilities mean something:
        an uncalibrated 0.9 is no promise.
        """
        if Capability.CALIBRATED not in self.capabilities():
            raise NotSupportedError(self.name, Capability.CALIBRATED)
        if not 0.0 <= at_least <= 1.0:
            raise ParameterError(f"at_least is a probability between 0 and 1, not {at_least}.")
        scores = self._scores(graph, nodes)
        sure = self.probabilities(scores).max(axis=1) * self.familiarity(scores)
        names = np.array([*self.classes_, None], dtype=object)
        answers = np.where(sure >= at_least, scores.argmax(axis=1), -1)
        predicted: list[str | None] = names[answers].tolist()
        return predicted

    def predict_proba(self, graph: Graph | GraphView, nodes: Sequence[Key]) -> NDArray[np.float64]:
        """Probability of every known class (columns as in ``classes_``) for each node."""
        return self.probabilities(self._scores(graph, nodes))

    def embed(self, graph: Graph | GraphView, nodes: Sequence[Key]) -> Matrix:
        """The vectors behind the scores, one row per node."""
        view = self._checked(graph)
        rows, place = np.unique(view.rows_of(nodes), return_inverse=True)
        vectors = self.embedding(view, rows)
        return (vectors.detach().numpy() if isinstance(vectors, Tensor) else vectors)[place]

    def explain(self, graph: Graph | GraphView, node: Key) -> dict[str, Any]:
        """Why a node scores as it does."""
        view = self._checked(graph)
        return self.explain_node(view, int(view.rows_of([node])[0]))

    def score_rows(self, view: GraphView, rows: IntArray) -> NDArray[np.float64]:
        """Scores by row number, whatever the order, in blocks of bounded size."""
        self._checked(view)
        unique, place = np.unique(rows.astype(np.int64), return_inverse=True)
        view.positions(unique)
        scores = np.empty((unique.size, len(self.classes_)), dtype=np.float64)
        for start in range(0, unique.size, self.block_rows):
            block = unique[start : start + self.block_rows]
            scored = self.score(view, block)
            values = scored.detach().numpy() if isinstance(scored, Tensor) else scored
            if values.shape != (block.size, len(self.classes_)):
                raise DataError(
                    f"{self.name} gave scores of shape {values.shape} for {block.size} nodes and "
                    f"{len(self.classes_)} classes."
                )
            scores[start : start + block.size] = values
        if not np.isfinite(scores).all():
            raise DataError(f"{self.name} gave scores that are NaN or infinite.")
        return scores[place]

    def state(self) -> State:
        """Everything learned, as arrays and JSON."""
        learned = {name: value for name, value in vars(self).items() if _is_learned(name)}
        return pack(learned)

    def parameters(self) -> dict[str, Any]:
        """The hyper-parameters, by name."""
        return asdict(self)

    def save(self, directory: str | Path) -> None:
        """Write a new directory with safetensors, JSON and a short card."""
        header = {
            "method": self.name,
            "parameters": self.parameters(),
            "classes": self._checked_table().to_json(),
            "session": self._session,
            "features": self._features,
            "nodegraft": version("nodegraft"),
        }
        write_model(Path(directory), header, self.state(), self._card())

    def _card(self) -> str:
        rows = "\n".join(
            f"| {known.name} | {known.born} | {known.shots} |" for known in self._table.classes
        )
        return (
            f"# {self.name}\n\n{self.summary}\n\n"
            f"{len(self._table)} classes, {self.state().nbytes:,} bytes of learned state, "
            f"nodegraft {version('nodegraft')}.\n\n"
            f"| class | learned in session | labelled nodes |\n|---|---|---|\n{rows}\n"
        )

    @classmethod
    def load(cls, directory: str | Path) -> Self:
        """The model a directory holds."""
        header, state = read_model(Path(directory))
        if header["method"] != cls.name:
            raise CheckpointError(
                f"{directory} holds a {header['method']} model, not {cls.name}: use load_model."
            )
        model = cls(**header["parameters"])
        vars(model).update(unpack(state))
        model._known = ClassTable.from_json(header["classes"])
        model._session, model._features = header["session"], header["features"]
        return model

    # Bookkeeping.

    def _scores(self, graph: Graph | GraphView, nodes: Sequence[Key]) -> NDArray[np.float64]:
        view = self._checked(graph)
        return self.score_rows(view, view.rows_of(nodes))

    def _checked(self, graph: Graph | GraphView) -> GraphView:
        self._checked_table()
        view = _view(graph)
        if view.num_features != self._features:
            raise DataError(
                f"The model was fitted on {self._features} features, this graph has "
                f"{view.num_features}: use the same columns or the same text vectoriser."
            )
        return view

    def _checked_table(self) -> ClassTable:
        if not len(self._table):
            raise NotFittedError(self.name)
        return self._table

    def _forget(self) -> None:
        for name in [name for name in vars(self) if _is_learned(name)]:
            delattr(self, name)
        vars(self).pop("_known", None)


REGISTRY: Registry[Method] = Registry("method", "nodegraft.methods", Method)  # type: ignore[type-abstract]


def make_method(name: str, **parameters: Any) -> Method:
    """A method by name, with its hyper-parameters."""
    return build(REGISTRY.get(name), parameters)


def load_model(directory: str | Path) -> Method:
    """A saved model of whichever method."""
    header, _ = read_model(Path(directory))
    return REGISTRY.get(header["method"]).load(directory)


class _AllOrNothing:
    """Puts a model's attributes back as they were if the block fails."""

    def __init__(self, model: Method, listener: Listener) -> None:
        self._model, self._listener = model, listener

    def __enter__(self) -> None:
        self._before = dict(vars(self._model))
        vars(self._model)["_listener"] = self._listener

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            vars(self._model).clear()
            vars(self._model).update(self._before)
        vars(self._model).pop("_listener", None)


def _is_learned(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _view(graph: Graph | GraphView) -> GraphView:
    return graph.whole if isinstance(graph, Graph) else graph


def _labelled(view: GraphView, labels: Labels) -> Labelled:
    labelled = labels if isinstance(labels, Labelled) else Labelled.by_key(view, labels)
    view.positions(labelled.rows())
    return labelled


def _shots(labelled: Labelled) -> dict[str, int]:
    return {name: int(rows.size) for name, rows in labelled.items()}
