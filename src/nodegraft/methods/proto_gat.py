"""Proto-GAT: Proto-GCN with a graph attention encoder."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.methods.neural.encoders import GAT
from nodegraft.methods.proto_gcn import ProtoGCN


@dataclass(kw_only=True)
class ProtoGAT(ProtoGCN):
    r"""The paper's Proto-GNN baseline with a GAT encoder.

    :math:`Z = g_\theta(A, X)` by graph attention. The rest is equal to Proto-GCN: class means, and
    :math:`p(y = k \mid q) \propto \exp(-\lVert z_q - p_k \rVert^2)`. Veličković et al. 2018,
    https://arxiv.org/abs/1710.10903.

    The widths are those of the other encoders, 32 and 16, so only the type of layer differs. The
    first layer has four attention heads of width 8 (the GAT paper has eight), the second has one.
    """

    heads: PositiveInt = 4
    """Number of attention heads of the first layer; ``hidden`` must be a multiple of it."""

    name: ClassVar[str] = "proto-gat"
    summary: ClassVar[str] = "pre-trained GAT, class means, squared Euclidean distance"
    citation: ClassVar[str] = "Snell et al. 2017; Tan et al. 2022 (Proto-GAT)"

    def new_encoder(self, features: int) -> GAT:
        """Return an encoder with two layers of graph attention."""
        sizes = [features, self.hidden, self.out]
        return GAT(sizes, [self.heads, 1], self.seeds.torch_generator("encoder"))
