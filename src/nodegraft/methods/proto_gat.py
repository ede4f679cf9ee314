"""Proto-GAT: Proto-GCN with a graph attention encoder."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.methods.neural.encoders import GAT
from nodegraft.methods.proto_gcn import ProtoGCN


@dataclass(kw_only=True)
class ProtoGAT(ProtoGCN):
    r"""The paper's Proto-GNN baseline with a GAT encoder.

    :math:`Z = g_\theta(A, X)` by graph attention; then as Proto-GCN: class means, and
    :math:`p(y = k \mid q) \propto \exp(-\lVert z_q - p_k \rVert^2)`. Veličković et al. 2018,
    https://arxiv.org/abs/1710.10903.

    The widths are those of the other encoders, 32 and 16, so that only the layers differ: four
    heads of 8 side by side (the GAT paper's width of a head; it has 8 of them), then a single one.
    """

    heads: PositiveInt = 4
    """Attention heads of the first layer, side by side; they divide ``hidden`` evenly."""

    name: ClassVar[str] = "proto-gat"
    summary: ClassVar[str] = "pre-trained GAT, class means, squared Euclidean distance"
    citation: ClassVar[str] = "Snell et al. 2017; Tan et al. 2022 (Proto-GAT)"

    def new_encoder(self, features: int) -> GAT:
        """Build two layers of graph attention."""
        sizes = [features, self.hidden, self.out]
        return GAT(sizes, [self.heads, 1], self.seeds.torch_generator("encoder"))
