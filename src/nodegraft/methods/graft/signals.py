"""Signals of graft: name, default weight and values of each.

A score is the weighted sum of all signals. Scoring, practice and explanations all use the list of
signals that is defined here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.propagation.spread import SpreadRows
from nodegraft.methods.graft.classes import ClassVectors, Floats

FLOOR = 0.1
"""Number added before the logarithm to a node's relative heat and to its regression score. It keeps
the logarithm finite: a node without heat may still belong to the class."""

TIMES = (2.0, 8.0, 32.0, 128.0)
"""Diffusion times; heat reaches more distant nodes at longer times."""

NEAR_TIMES = 2
"""Number of short times at the start of ``TIMES``: diffusion stays near the labelled nodes."""

SIMILARITY, HEAT, DIRECTED, WORDS, RIDGE, SCARCE = 10.0, 0.6, 0.5, 0.2, 1.0, 0.4
"""Default weights of cosines, diffusion, cosines by direction, words, regression and the term for
few labels: about the means of what practice found on four real graphs."""

HEAT_ALONE = 2.4
"""Default weight of diffusion for graphs without features. Diffusion is then the only evidence, and
must have more effect than the term for few labels."""


SignalKind = Literal["diffusion", "regression", "edge types", "cosine", "words", "few labels"]
"""Name of the formula that computes a signal."""


class NodeBatch:
    """Batch of nodes with the features that signals need.

    Args:
        features: Feature rows of the nodes in each layer.
        positions: Positions of the nodes in the graph view.
    """

    def __init__(self, features: SpreadRows, positions: IntArray) -> None:
        self.features, self.positions = features, positions
        self._classes: ClassVectors | None = None
        self._products: dict[int, Floats] = {}
        self._mass: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return int(self.positions.size)

    def pieces(self) -> Iterator[tuple[slice, "NodeBatch"]]:
        """Yield smaller batches with their slices, so that products need little memory."""
        for part, features in self.features.pieces():
            yield part, NodeBatch(features, self.positions[part])

    def without_blocks(self) -> "NodeBatch":
        """Return the batch without rows of neighbours by edge type, which are large."""
        return NodeBatch(self.features.without_blocks(), self.positions)

    def products(self, layer: int, kind: SignalKind, classes: ClassVectors) -> Floats:
        """Return products of the nodes' rows with class vectors: nodes x vectors.

        Dense rows are multiplied with the vectors of all kinds at once. These products are cached
        until the method is called with other classes. Do not modify the result.
        """
        if not self.features.are_dense:
            return self.features.times(layer, classes.vectors[kind][layer])
        self._compare_with(classes)
        vectors, columns = classes.side_by_side[layer]
        if layer not in self._products:
            self._products[layer] = self.features.times(layer, vectors)
        return self._products[layer][:, columns[kind]]

    def mass(self, classes: ClassVectors) -> NDArray[np.float32]:
        """Return node heat divided by the root of the degree: classes x times x nodes."""
        self._compare_with(classes)
        if self._mass is None:
            assert classes.heat is not None  # noqa: S101
            self._mass = classes.heat.at(self.positions)
        return self._mass

    def _compare_with(self, classes: ClassVectors) -> None:
        if self._classes is not classes:
            self._classes, self._products, self._mass = classes, {}, None


@dataclass(frozen=True)
class Signal:
    """Signal: a number for each node and class that is larger if the class is more likely."""

    name: str
    """Name of the signal in explanations."""

    kind: SignalKind
    """Formula that computes the signal."""

    default_weight: float
    """Weight that is used if weights are not fitted in practice."""

    place: int = 0
    """Index of the diffusion time or feature layer; 0 for signals that have neither."""

    @property
    def uses_means(self) -> bool:
        """Whether the signal depends on class means, which refinement changes."""
        return self.kind in ("cosine", "words")

    def values(self, nodes: NodeBatch, classes: ClassVectors) -> Floats:
        """Return the signal's values: nodes x classes. The caller may modify the array."""
        if self.kind == "diffusion":
            return _diffusion(self.place, nodes, classes)
        if self.kind == "cosine":
            return _cosine(self.place, nodes, classes)
        if self.kind == "words":
            return nodes.products(self.place, "words", classes).copy("K")
        if self.kind == "few labels":
            return np.repeat(classes.scarcity[:, None], len(nodes), axis=1).T
        return _regression(self.kind, nodes, classes)


def list_signals(
    *,
    times: Sequence[float],
    hops: int,
    directed: bool,
    word_layers: Sequence[int],
    ridge: bool,
    edge_types: bool,
    has_features: bool,
) -> tuple[Signal, ...]:
    """Return all signals of a model: diffusion signals first, the term for few labels last."""
    heat = (HEAT if has_features else HEAT_ALONE) / max(len(times), 1)
    signals = [
        Signal(f"diffusion, time {time:g}", "diffusion", heat, place)
        for place, time in enumerate(times)
    ]
    if ridge:
        signals.append(Signal("regression", "regression", RIDGE))
    if edge_types:
        signals.append(Signal("regression by edge type", "edge types", 0.0))
    layers = ["own features", *(f"features {hop} away" for hop in range(1, hops + 1))]
    weights = [SIMILARITY / len(layers)] * len(layers)
    if directed:
        layers += ["features that edges lead to", "features that edges come from"]
        weights += [DIRECTED] * 2
    for layer, (name, weight) in enumerate(zip(layers, weights, strict=True)):
        signals.append(Signal(name, "cosine", weight, layer))
    for hop in word_layers:
        name = f"words {hop} away" if hop else "own words"
        signals.append(Signal(name, "words", WORDS, hop))
    return (*signals, Signal("few labels", "few labels", SCARCE))


def _diffusion(time: int, nodes: NodeBatch, classes: ClassVectors) -> Floats:
    r"""Return the diffusion signal :math:`\log(m_{ic} / \bar m_c + 0.1)` at one diffusion time."""
    heat = classes.heat
    assert heat is not None  # noqa: S101
    shares = nodes.mass(classes)[:, time].astype(np.float64)
    shares *= (heat.num_nodes / heat.totals[time])[:, None]
    shares += FLOOR
    return np.log(shares, out=shares).T


def _regression(kind: SignalKind, nodes: NodeBatch, classes: ClassVectors) -> Floats:
    r"""Return the regression signal :math:`\log(\max(0, z_i^\top w_c) + 0.1)`."""
    scores, *others = (nodes.products(layer, kind, classes) for layer in classes.vectors[kind])
    scores = scores.copy("K")
    for products in others:
        scores += products
    np.maximum(scores, 0.0, out=scores)
    scores += FLOOR
    return np.log(scores, out=scores)


def _cosine(layer: int, nodes: NodeBatch, classes: ClassVectors) -> Floats:
    r"""Return the cosine signal :math:`\cos(z_i - \mu, q_c - \mu)`."""
    products = nodes.products(layer, "cosine", classes)
    # The first column is the centre; the class vectors follow.
    squares = nodes.features.present[layer] - 2.0 * products[:, 0] + classes.squares[layer]
    cosines: Floats = products[:, 1:] - classes.shifts[layer]
    cosines *= 1.0 / np.sqrt(np.maximum(squares, 1e-12))[:, None]
    return cosines
