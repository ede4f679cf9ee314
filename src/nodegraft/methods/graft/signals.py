"""List of graft's signals: the name, the default weight and the values of each.

A score is the weighted sum of all signals. This list is the only place that says what they are:
scoring, practice and explanations go through it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Literal

import numpy as np

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.propagation.spread import SpreadRows
from nodegraft.methods.graft.classes import ClassVectors, Floats

FLOOR = 0.1
"""Added to a node's share of a class's heat, and to its score in a regression, before logarithms
are taken: no heat is a hint, not a proof."""

TIMES = (2.0, 8.0, 32.0, 128.0)
"""Diffusion times: longer ones look further away."""

NEAR_TIMES = 2
"""Number of diffusion times at which heat stays near the labels."""

SIMILARITY, HEAT, DIRECTED, WORDS, RIDGE, SCARCE = 10.0, 0.6, 0.5, 0.2, 1.0, 0.4
"""Default weights of cosines, diffusion, cosines by direction, words, regression and the term for
few labels: about the means of what practice found on four real graphs."""

HEAT_ALONE = 2.4
"""Default weight of diffusion where nodes have no features: nothing else speaks for a class then,
and the term for few labels must not decide alone."""


@dataclass(frozen=True)
class NodeBatch:
    """Some nodes, as signals see them."""

    features: SpreadRows
    """Their rows of each layer."""

    positions: IntArray
    """Their positions in the view."""

    def __len__(self) -> int:
        return int(self.positions.size)


SignalKind = Literal["diffusion", "regression", "edge types", "cosine", "words", "few labels"]
"""Which formula a signal has."""


@dataclass(frozen=True)
class Signal:
    """One number for each node and class, which speaks for the class."""

    name: str
    """What it is, for explanations."""

    kind: SignalKind
    """Which formula it has."""

    default_weight: float
    """Weight without practice."""

    values: Callable[[NodeBatch, ClassVectors], Floats]
    """Computes it: nodes x classes."""

    @property
    def uses_means(self) -> bool:
        """Whether refined means change it."""
        return self.kind in ("cosine", "words")


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
    """Return all signals of a model. Those of diffusion come first, the one for few labels last.

    Args:
        times: Diffusion times.
        hops: Number of hops.
        directed: Whether there are rows for both directions of edges.
        word_layers: Hops whose words are compared.
        ridge: Whether there is a regression on all hops.
        edge_types: Whether there is a regression on neighbours by edge type.
        has_features: Whether nodes have features.
    """
    heat = (HEAT if has_features else HEAT_ALONE) / max(len(times), 1)
    found = [
        Signal(f"diffusion, time {time:g}", "diffusion", heat, partial(_diffusion, place))
        for place, time in enumerate(times)
    ]
    if ridge:
        found.append(Signal("regression", "regression", RIDGE, partial(_regression, 0)))
    if edge_types:
        values = partial(_regression, 1)
        found.append(Signal("regression by edge type", "edge types", 0.0, values))
    layers = ["own features", *(f"features {hop} away" for hop in range(1, hops + 1))]
    weights = [SIMILARITY / len(layers)] * len(layers)
    if directed:
        layers += ["features that edges lead to", "features that edges come from"]
        weights += [DIRECTED] * 2
    for layer, (name, weight) in enumerate(zip(layers, weights, strict=True)):
        found.append(Signal(name, "cosine", weight, partial(_cosine, layer)))
    for hop in word_layers:
        name = f"words {hop} away" if hop else "own words"
        found.append(Signal(name, "words", WORDS, partial(_words, hop)))
    return (*found, Signal("few labels", "few labels", SCARCE, _few_labels))


def _diffusion(time: int, nodes: NodeBatch, classes: ClassVectors) -> Floats:
    r"""Return :math:`\log(m_{ic} / \bar m_c + 0.1)` at one diffusion time."""
    heat = classes.heat
    assert heat is not None  # noqa: S101
    mass = heat.at(nodes.positions, slice(time, time + 1))[:, 0]
    shares: Floats = mass * (heat.num_nodes / heat.totals[time])[:, None]
    shares += FLOOR
    return np.log(shares, out=shares).T


def _regression(number: int, nodes: NodeBatch, classes: ClassVectors) -> Floats:
    r"""Return :math:`\log(\max(0, z_i^\top w_c) + 0.1)`."""
    vectors = classes.regressions[number]
    scores: Floats = reduce(np.add, map(nodes.features.times, vectors, vectors.values()))
    np.maximum(scores, 0.0, out=scores)
    scores += FLOOR
    return np.log(scores, out=scores)


def _cosine(layer: int, nodes: NodeBatch, classes: ClassVectors) -> Floats:
    r"""Return :math:`\cos(z_i - \mu, q_c - \mu)`."""
    products = nodes.features.times(layer, classes.directions[layer])
    to_centre, cosines = products[:, 0], products[:, 1:]
    squares = nodes.features.present[layer] - 2.0 * to_centre + classes.squares[layer]
    cosines -= classes.shifts[layer]
    cosines /= np.sqrt(np.maximum(squares, 1e-12))[:, None]
    return cosines


def _words(layer: int, nodes: NodeBatch, classes: ClassVectors) -> Floats:
    r"""Return :math:`z_i \cdot \log \frac{q_c + b}{2 b}`."""
    return nodes.features.times(layer, classes.words[layer])


def _few_labels(nodes: NodeBatch, classes: ClassVectors) -> Floats:
    r"""Return :math:`\log(1 + 100 / n_c)`, the same for all nodes."""
    return np.broadcast_to(classes.scarcity, (len(nodes), classes.scarcity.size))
