"""Methods that cheat on purpose, on a graph whose visible part says nothing about classes.

Each looks for labels, or for hidden nodes, in another place. What it does not find it cannot use:
it then classifies like chance.
"""

import gc
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nodegraft.evaluation import protocol
from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.sgc_mean import SGCMean
from nodegraft.streams.arrival import Arrival
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.session import Session
from nodegraft.streams.setting import Setting
from nodegraft.streams.split import ClassSplit
from nodegraft.streams.stream import ClassStream

CLASSES, NODES, NOISE = 12, 1800, 40
SETTING = Setting(base=4, pseudo_novel=2, validation=2, novel=4, ways=2, shots=5)
CHANCE = 1 / (CLASSES - SETTING.validation)
MANY_NODES = 1000


def hopeless_graph(witnesses: bool = True) -> tuple[Graph, NodeLabels]:
    """Return a graph of noise and its labels.

    Args:
        witnesses: Whether every node has a neighbour of no class, whose features are the class of
            the node. Nodes of no class are visible only with the arrival ``present``.
    """
    draws = np.random.default_rng(0)
    numbers = draws.permutation(np.arange(NODES) % CLASSES)
    noise = draws.standard_normal((NODES, NOISE))
    edges = draws.integers(NODES, size=(NODES, 2))
    features = np.hstack((noise, np.zeros((NODES, CLASSES))))
    if witnesses:
        classes = np.hstack((np.zeros((NODES, NOISE)), 50 * np.eye(CLASSES)[numbers]))
        features = np.vstack((features, classes))
        edges = np.vstack((edges, np.stack((np.arange(NODES), np.arange(NODES) + NODES), axis=1)))
    graph = Graph(np.arange(len(features)), features.astype(np.float32), edges)
    return graph, NodeLabels.from_numbers(numbers)


def hopeless_stream(arrival: Arrival = "growing") -> ClassStream:
    """Return a stream on which an honest method classifies like chance.

    Args:
        arrival: When nodes become visible.
    """
    graph, labels = hopeless_graph(witnesses=arrival != "present")
    return ClassStream.draw(graph, labels, SETTING, arrival=arrival)


def write_raw_files(folder: Path) -> None:
    """Write the raw data of the graph: features and the class of each node.

    Args:
        folder: The folder.
    """
    graph, labels = hopeless_graph()
    np.save(folder / "features.npy", graph.features(np.arange(NODES)))
    np.save(folder / "classes.npy", np.argsort(labels.rows()) // (NODES // CLASSES))


@dataclass(kw_only=True)
class Cheat(SGCMean):
    """Adds what it found out to honest scores."""

    def found(self, view: GraphView) -> Mapping[str, NDArray[np.int64]]:
        """Return class name -> rows.

        Args:
            view: The visible part of the graph.
        """
        raise NotImplementedError

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Score, with 10 more for the classes that were found."""
        scores = super().score(view, rows)
        found = self.found(view)
        for column, name in enumerate(self.classes_):
            if name in found:
                scores[np.isin(rows, found[name]), column] += 10.0
        return scores


@dataclass(kw_only=True)
class WalksTheStack(Cheat):
    """Takes the query labels from the variables of a caller."""

    def found(self, view: GraphView) -> Mapping[str, NDArray[np.int64]]:
        """Return the labels of the first session up the stack."""
        frame = sys._getframe().f_back
        while frame is not None:
            for value in list(frame.f_locals.values()):
                if isinstance(value, Session):
                    return value.query
            frame = frame.f_back
        return {}


@dataclass(kw_only=True)
class SearchesObjects(Cheat):
    """Searches all objects of the process for the split."""

    def found(self, view: GraphView) -> Mapping[str, NDArray[np.int64]]:
        """Return the members of all classes of the split that has the same training nodes."""
        own = self.labels_.on(view)
        for value in gc.get_objects():
            if isinstance(value, ClassSplit) and set(self.classes_) <= {*value.known, *value.novel}:
                first = value.train.classes[0]
                if np.array_equal(np.sort(value.train[first]), np.sort(own[first])):
                    return value.members
        return {}


@dataclass(kw_only=True)
class ActsOnLargeGraphs(WalksTheStack):
    """Cheats only on graphs that are larger than those of the leak checks."""

    def found(self, view: GraphView) -> Mapping[str, NDArray[np.int64]]:
        """Return the labels of a session, if many nodes are visible."""
        return super().found(view) if view.num_nodes > MANY_NODES else {}


@dataclass(kw_only=True)
class ReadsFiles(Cheat):
    """Reads the raw files and recognises nodes by their features."""

    folder: str = ""
    """Folder of the raw files."""

    def found(self, view: GraphView) -> Mapping[str, NDArray[np.int64]]:
        """Return the classes of all nodes that are in the files."""
        try:
            features = np.load(Path(self.folder) / "features.npy")
            numbers = np.load(Path(self.folder) / "classes.npy")
        except OSError:
            return {}
        names = dict(zip(map(bytes, features), numbers.tolist(), strict=True))
        rows = view.rows
        classes = [names.get(bytes(row)) for row in np.asarray(view.features(rows))]
        return {
            f"class-{number:02d}": rows[[class_of_node == number for class_of_node in classes]]
            for number in range(CLASSES)
        }


@dataclass(kw_only=True)
class PatchesTheEvaluation(SGCMean):
    """Replaces the function that computes recall."""

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Learn nothing else."""
        super().learn_base(view, curriculum)
        vars(protocol)["recalls"] = lambda targets, predicted, count: np.ones(count)


@dataclass(kw_only=True)
class LooksBehindTheView(SGCMean):
    """Reads hidden nodes in the store of the graph."""

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        """Propagate over the whole graph."""
        return super().embedding(GraphView(view._store), rows)


_memory: dict[str, GraphView] = {}


@dataclass(kw_only=True)
class ReadsTheRehearsal(SGCMean):
    """Reads hidden nodes in the graph of the rehearsal."""

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Remember the graph of the rehearsal."""
        assert curriculum.rehearsal is not None  # noqa: S101  (the stream has one)
        _memory["graph"] = curriculum.rehearsal.graph
        super().learn_base(view, curriculum)

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        """Propagate over that graph."""
        return super().embedding(_memory["graph"], rows)


_first_asked: dict[int, int] = {}


@dataclass(kw_only=True)
class RemembersQuestions(SGCMean):
    """Takes the classes that were new when a node was scored first."""

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Forget earlier runs."""
        _first_asked.clear()
        super().learn_base(view, curriculum)

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Score, with 10 more for classes of the session in which a node was scored first."""
        scores = super().score(view, rows)
        sessions = np.array([known.session for known in self._table.classes])
        latest = int(sessions.max())
        if latest not in _first_asked.values():  # the first call of a session is about queries
            for row in rows.tolist():
                _first_asked.setdefault(row, latest)
        first = np.array([_first_asked.get(row, -1) for row in rows.tolist()])
        bonus: NDArray[np.float64] = 10.0 * (first[:, None] == sessions[None, :])
        return scores + bonus


CHEATS: dict[str, tuple[type[SGCMean], Arrival]] = {
    "none (sgc-mean)": (SGCMean, "growing"),
    "walks the call stack": (WalksTheStack, "growing"),
    "searches all objects (gc)": (SearchesObjects, "growing"),
    "the same above 1,000 nodes only": (ActsOnLargeGraphs, "growing"),
    "reads the raw files": (ReadsFiles, "growing"),
    "replaces a function of the evaluation": (PatchesTheEvaluation, "growing"),
    "looks behind the view": (LooksBehindTheView, "growing"),
    "reads the graph of the rehearsal": (ReadsTheRehearsal, "growing"),
    "remembers which nodes were scored when": (RemembersQuestions, "present"),
}
"""What a method does -> the method and the arrival on which it is measured."""
