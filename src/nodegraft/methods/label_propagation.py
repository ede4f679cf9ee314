"""Label propagation: PyG's, from all labels there are."""

from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import ref

import numpy as np
import torch
from numpy.typing import NDArray

from nodegraft.base.parameters.constraints import FractionBelowOne, PositiveInt
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.model.method import Method
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class LabelPropagation(Method):
    r"""Labels spread along edges, and features do not count:
    :math:`Y \leftarrow \alpha S Y + (1 - \alpha) Y_0`.

    What a user would do without a library, by the one that PyTorch Geometric has. Zhu & Ghahramani
    2002; Zhou et al. 2003.
    """

    alpha: FractionBelowOne = 0.9
    r"""How much comes from neighbours (:math:`\alpha`)."""

    layers: PositiveInt = 50
    """How many steps labels are spread."""

    name: ClassVar[str] = "label-propagation"
    summary: ClassVar[str] = "labels spread along edges by PyG; features do not count"
    citation: ClassVar[str] = "Zhou et al. 2003"
    reversible: ClassVar[bool] = True

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Spread the labels."""
        self._spread(view)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Spread all labels anew."""
        self._spread(view)

    def learn_labels(
        self, view: GraphView, support: NodeLabels, columns: NDArray[np.int64]
    ) -> None:
        """Spread all labels anew."""
        self._spread(view)

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """The labels of the other classes are gone, and with them all they did."""

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """What has arrived of each class."""
        return self._spread(view)[view.positions(rows)]

    def _spread(self, view: GraphView) -> NDArray[np.float64]:
        kept: Any = self.__dict__.get("_cached_shares")
        if kept is None or kept[0]() is not view or kept[1] is not self.labels_:
            kept = (ref(view), self.labels_, self._shares(view))
            self.__dict__["_cached_shares"] = kept
        shares: NDArray[np.float64] = kept[2]
        return shares

    def _shares(self, view: GraphView) -> NDArray[np.float64]:
        # Slow to import, and most methods do without.
        from torch_geometric.nn.models import LabelPropagation as Engine

        labels = self.labels_.on(view)
        start = torch.zeros(view.num_nodes, len(labels))
        places = torch.from_numpy(view.positions(labels.rows()))
        start[places, torch.from_numpy(labels.targets(labels.classes))] = 1.0
        counts, neighbours = view.neighbours(view.rows)
        ends = np.stack((np.repeat(np.arange(view.num_nodes), counts), view.positions(neighbours)))
        engine = Engine(num_layers=self.layers, alpha=self.alpha)
        spread: Any = engine(start, torch.from_numpy(ends))
        shares: NDArray[np.float64] = spread.double().numpy()
        return shares
