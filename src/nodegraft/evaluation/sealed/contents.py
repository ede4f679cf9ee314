"""Conversion of graphs, labels and curricula for a sealed method to arrays and JSON, and back."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nodegraft.base.errors import DataError
from nodegraft.base.files.bundle import Arrays, prefixed, under
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.streams.arrival import without_hidden_nodes
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.session import Sessions
from nodegraft.tables.storage import pack_graph, unpack_graph


@dataclass
class Contents:
    """Named arrays and JSON of a message to a sealed method."""

    arrays: Arrays
    """Arrays by name."""

    fields: dict[str, Any]
    """Plain JSON by name."""

    def put_labels(self, name: str, labels: NodeLabels) -> None:
        """Add labels under a name."""
        self.arrays[name] = labels.rows()
        self.fields[name] = list(labels.counts().items())

    def labels(self, name: str) -> NodeLabels:
        """Return the labels that were added under a name."""
        classes = [entry[0] for entry in self.fields[name]]
        ends = np.cumsum([entry[1] for entry in self.fields[name]])[:-1]
        rows = np.split(self.arrays[name], ends) if classes else []
        return NodeLabels(dict(zip(classes, rows, strict=True)))

    def put_graph(self, name: str, graph: Graph) -> None:
        """Add a graph under a name, without its feature recipe."""
        if not np.array_equal(graph.key_array_of(graph.rows), graph.rows):
            raise DataError(
                "A sealed method is given anonymous nodes only: make the stream with "
                "ClassStream.draw, which replaces keys by row numbers."
            )
        arrays, header = pack_graph(graph)
        self.arrays |= prefixed(f"{name}.", arrays)
        self.fields[name] = header | {"recipe": None}

    def graph(self, name: str) -> Graph:
        """Return the graph that was added under a name."""
        return unpack_graph(under(f"{name}.", self.arrays), self.fields[name], name)[0]

    def put_view(self, view: GraphView) -> None:
        """Add a view of a graph; features and edges of hidden nodes are removed."""
        self.put_graph("graph", without_hidden_nodes(Graph.from_store(view._store), view.rows))
        self.arrays["visible"] = view.rows

    def view(self) -> GraphView:
        """Return the view of the graph that was added."""
        return self.graph("graph").view(self.arrays["visible"])

    def put_curriculum(self, curriculum: Curriculum) -> None:
        """Add the curriculum of a method."""
        self.put_labels("train", curriculum.train)
        self.put_labels("held_out", curriculum.held_out)
        self.fields["pseudo_novel"] = list(curriculum.pseudo_novel)
        self.fields["sizes"] = [curriculum.ways, curriculum.shots]
        rehearsal = curriculum.rehearsal
        self.fields["rehearsals"] = 0 if rehearsal is None else len(rehearsal)
        if rehearsal is not None:
            self.put_graph("rehearsal", rehearsal.graph)
            self.arrays["entry"] = rehearsal.entry
            for index, (support, query) in enumerate(
                zip(rehearsal.support, rehearsal.query, strict=True)
            ):
                self.put_labels(f"support.{index}", support)
                self.put_labels(f"query.{index}", query)

    def curriculum(self) -> Curriculum:
        """Return the curriculum that was added by :meth:`put_curriculum`."""
        ways, shots = self.fields["sizes"]
        pseudo_novel = tuple(self.fields["pseudo_novel"])
        train, held_out = self.labels("train"), self.labels("held_out")
        curriculum = Curriculum(train, held_out, pseudo_novel, ways=ways, shots=shots)
        if not self.fields["rehearsals"]:
            return curriculum
        places = range(self.fields["rehearsals"])
        support = tuple(self.labels(f"support.{index}") for index in places)
        query = tuple(self.labels(f"query.{index}") for index in places)
        sessions = Sessions(self.graph("rehearsal"), self.arrays["entry"], support, query)
        return replace(curriculum, rehearsal=sessions)
