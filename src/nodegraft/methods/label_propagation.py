"""Label propagation: PyG's, from all labels there are."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from nodegraft.base.parameters.constraints import FractionBelowOne, PositiveInt
from nodegraft.graph.view import GraphView
from nodegraft.methods.templates.derived import Derived


@dataclass(kw_only=True)
class LabelPropagation(Derived[NDArray[np.float64]]):
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

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """What has arrived of each class."""
        return self.derived(view)[view.positions(rows)]

    def derive(self, view: GraphView) -> NDArray[np.float64]:
        """How much of each class has arrived at every node."""
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
