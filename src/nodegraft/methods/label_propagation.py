"""Label propagation with PyTorch Geometric, from all labels."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from nodegraft.base.errors import NotSupportedError
from nodegraft.base.parameters.constraints import FractionBelowOne, NonNegativeFloat, PositiveInt
from nodegraft.graph.growth.rows_view import RowsView
from nodegraft.graph.statistics import homophily_of_kinds, relation_weights
from nodegraft.graph.view import GraphView
from nodegraft.methods.templates.derived import Derived
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class LabelPropagation(Derived[NDArray[np.float64]]):
    r"""Propagation of labels along edges: :math:`Y \leftarrow \alpha S Y + (1 - \alpha) Y_0`.

    This baseline does not use features. Zhu & Ghahramani 2002; Zhou et al. 2003.
    """

    alpha: FractionBelowOne = 0.9
    r"""Share of the result that comes from neighbours in each step (:math:`\alpha`)."""

    layers: PositiveInt = 50
    """Number of propagation steps."""

    balanced: bool = False
    r"""Whether all classes have equal weight, however many labels they have: each of the
    :math:`n_c` labels of a class starts with :math:`1 / n_c` instead of 1, and scores are divided
    by the mean score of the class over all visible nodes."""

    edge_types: bool = False
    """Whether edges are weighted by their own weights and by their type. The weight of an edge type
    depends on its homophily among the classes known at ``fit``
    (:func:`~nodegraft.graph.statistics.relation_weights`). Otherwise every edge has weight 1."""

    edge_type_weights_: dict[str, NonNegativeFloat] = learned()
    """Weight of each edge type; empty without ``edge_types``."""

    new_edge_type_weight_: NonNegativeFloat = learned()
    """Weight of an edge type that appears after ``fit``."""

    name: ClassVar[str] = "label-propagation"
    summary: ClassVar[str] = "labels spread along edges by PyG; features do not count"
    citation: ClassVar[str] = "Zhou et al. 2003"
    reversible: ClassVar[bool] = True

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Learn weights of edge types, then propagate the labels of the known classes."""
        self.edge_type_weights_, self.new_edge_type_weight_ = {}, 1.0
        if self.edge_types:
            homophily = homophily_of_kinds(view, curriculum.train)
            self.edge_type_weights_, self.new_edge_type_weight_ = relation_weights(homophily)
        super().learn_base(view, curriculum)

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return, for each node and class, the sum of propagated labels."""
        return self.derived(view)[view.positions(rows)]

    def derive(self, view: GraphView) -> NDArray[np.float64]:
        """Propagate the labels of every class along edges to all nodes."""
        # This import is slow, and most methods do not need it.
        from torch_geometric.nn.models import LabelPropagation as Engine

        labels = self.labels_.on(view)
        start = torch.zeros(view.num_nodes, len(labels), device="cpu")
        places = torch.from_numpy(view.positions(labels.rows()))
        start[places, torch.from_numpy(labels.targets(labels.classes))] = 1.0
        if self.balanced:
            start /= start.sum(dim=0)
        engine = Engine(num_layers=self.layers, alpha=self.alpha)
        ends, weights = self._edges(view)
        spread: Any = engine(start, ends, edge_weight=weights)
        shares: NDArray[np.float64] = spread.double().numpy()
        return shares / shares.mean(axis=0) if self.balanced else shares

    def for_rows(self, value: NDArray[np.float64], view: RowsView) -> NDArray[np.float64]:
        """Raise an error: rows that are not in the graph cannot be predicted."""
        raise NotSupportedError(self.name, "predict rows that are not in the graph")

    def _edges(self, view: GraphView) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return the two ends of every edge, in both directions, and its normalised weight.

        If the weights are None, PyTorch Geometric uses weight 1 for every edge and normalises.
        """
        weights = None
        if self.edge_types:
            new = self.new_edge_type_weight_
            worth = {name: self.edge_type_weights_.get(name, new) for name in view.relations}
            view = view.weighing(worth)
            counts, neighbours, weights = view.weighted_neighbours(view.rows)
        else:
            counts, neighbours = view.neighbours(view.rows)
        ends = np.stack((np.repeat(np.arange(view.num_nodes), counts), view.positions(neighbours)))
        if weights is None:
            return torch.from_numpy(ends), None
        from torch_geometric.nn.conv.gcn_conv import gcn_norm

        edges: tuple[torch.Tensor, torch.Tensor] = gcn_norm(
            torch.from_numpy(ends),
            torch.from_numpy(weights),
            num_nodes=view.num_nodes,
            add_self_loops=False,
        )
        return edges
