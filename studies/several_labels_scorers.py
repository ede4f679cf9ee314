"""Scorers that :mod:`studies.several_labels` compares; each scores every class for itself.

All of them read the same propagated features. A labelled node that is not a label of a class counts
as a negative example of it. Each scorer takes settings, and yields the scores with each of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from nodegraft.graph.graph import Graph
from nodegraft.graph.propagation.spread import SpreadFeatures
from nodegraft.methods.graft.evidence import Evidence
from nodegraft.methods.graft.signals import TIMES

Floats: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int64]
Setting: TypeAlias = tuple[float, ...]
Scorer: TypeAlias = Callable[["Task", Sequence[Setting]], Iterator[Floats]]

HOPS = 2

STEPS = 50
"""Maximum number of L-BFGS steps of the logistic regression for each penalty."""


@dataclass(frozen=True)
class Task:
    """Labels of some nodes, and other nodes to score.

    Args:
        graph: The graph, with dense features.
        features: Propagated features of all nodes of the graph: rows of length 1.
        labels: Rows of the labels of each class, ascending.
        rows: Rows of the nodes to score, ascending.
    """

    graph: Graph
    features: Floats
    labels: Sequence[Ints]
    rows: Ints

    @cached_property
    def labelled(self) -> Ints:
        """Rows of all labelled nodes, ascending."""
        return np.unique(np.concatenate(self.labels))

    @cached_property
    def targets(self) -> Floats:
        """Whether each labelled node is a label of each class: 1 or 0."""
        targets = np.zeros((self.labelled.size, len(self.labels)), dtype=np.float32)
        for column, rows in enumerate(self.labels):
            targets[np.searchsorted(self.labelled, rows), column] = 1.0
        return targets

    @cached_property
    def examples(self) -> Floats:
        """Features of the labelled nodes."""
        return self.features[self.labelled]

    @cached_property
    def queries(self) -> Floats:
        """Features of the nodes to score."""
        return self.features[self.rows]

    @cached_property
    def products(self) -> Floats:
        """Inner products of the nodes to score and the labelled nodes."""
        products: Floats = self.queries @ self.examples.T
        return products


def graft(task: Task, settings: Sequence[Setting]) -> Iterator[Floats]:
    """Yield the score of ``graft``: class means by hop and direction, and diffusion.

    Weights are the defaults, the weight of diffusion multiplied by the setting. The regression of
    ``graft`` is left out, because its classes exclude each other, and so are refined means.
    """
    width = task.graph.num_features
    features = SpreadFeatures(task.graph, HOPS, np.ones(width, dtype=np.float32), directions=True)
    evidence = Evidence(features, np.zeros((0, 0)), TIMES, ridge=False)
    counts = np.array([rows.size for rows in task.labels])
    classes = evidence.labelled(task.labels, counts, np.arange(counts.size))
    vectors = evidence.class_vectors(classes)
    means, heat = np.zeros((2, task.rows.size, counts.size), dtype=np.float32)
    for part, piece in evidence.nodes(task.rows).pieces():
        for signal in evidence.signals:
            total = heat if signal.kind == "diffusion" else means
            total[part] += signal.default_weight * signal.values(piece, vectors)
    for (factor,) in settings:
        yield means + factor * heat


def ridge(task: Task, settings: Sequence[Setting]) -> Iterator[Floats]:
    """Yield scores of one ridge regression for all classes, for each penalty."""
    centre, shares = task.examples.mean(axis=0), task.targets.mean(axis=0)
    rows = (task.examples - centre).astype(np.float64)
    products, sums = rows.T @ rows, rows.T @ (task.targets - shares)
    for (penalty,) in settings:
        weights = np.linalg.solve(products + penalty * np.eye(rows.shape[1]), sums)
        yield (task.queries - centre) @ weights.astype(np.float32) + shares


def kernel_ridge(task: Task, settings: Sequence[Setting]) -> Iterator[Floats]:
    r"""Yield scores of a ridge regression with the kernel :math:`e^{(z^\top z' - 1) / \tau}`.

    A setting is :math:`\tau` and the penalty.
    """
    from scipy.linalg import solve

    shares, inner = task.targets.mean(axis=0), task.examples @ task.examples.T
    for width, penalty in settings:
        system = np.exp((inner - 1.0) / width)
        system[np.diag_indices_from(system)] += penalty
        shares_by_node = solve(system, task.targets - shares, assume_a="pos", overwrite_a=True)
        yield np.exp((task.products - 1.0) / width) @ shares_by_node + shares


def logistic(task: Task, settings: Sequence[Setting]) -> Iterator[Floats]:
    """Yield scores of one logistic regression for each class, for each strength.

    All classes are fitted at once by L-BFGS, and each fit begins at the last one. So strengths must
    ascend.
    """
    centre = task.examples.mean(axis=0)
    rows, targets = torch.from_numpy(task.examples - centre), torch.from_numpy(task.targets)
    positive = targets.sum(dim=0)
    weights = torch.zeros(rows.shape[1], targets.shape[1], requires_grad=True)
    offsets = torch.logit((positive + 0.5) / (len(rows) + 1)).requires_grad_()
    for (strength,) in settings:
        optimiser = torch.optim.LBFGS(
            [weights, offsets], max_iter=STEPS, line_search_fn="strong_wolfe"
        )

        def cost(strength: float = strength, optimiser: torch.optim.LBFGS = optimiser) -> float:
            optimiser.zero_grad()
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                rows @ weights + offsets, targets, reduction="sum"
            )
            total = strength * loss + 0.5 * (weights**2).sum()
            total.backward()  # type: ignore[no-untyped-call]
            return float(total)

        optimiser.step(cost)  # type: ignore[no-untyped-call]
        with torch.no_grad():
            yield (torch.from_numpy(task.queries - centre) @ weights + offsets).numpy()


def nearest(task: Task, settings: Sequence[Setting]) -> Iterator[Floats]:
    """Yield the sums of the similarities of the nearest labelled nodes that have each label."""
    for (count,) in settings:
        used = min(int(count), task.labelled.size)
        near = np.argpartition(-task.products, used - 1, axis=1)[:, :used]
        scores = np.zeros((task.rows.size, len(task.labels)), dtype=np.float32)
        weights = np.take_along_axis(task.products, near, axis=1)
        for place in range(used):
            scores += weights[:, place, None] * task.targets[near[:, place]]
        yield scores


SCORERS: dict[str, tuple[Scorer, list[Setting]]] = {
    "class means and diffusion of graft": (
        graft,
        [(0.0,), (0.25,), (0.5,), (1.0,), (2.0,), (4.0,)],
    ),
    "linear ridge": (ridge, [(0.3,), (1.0,), (3.0,), (10.0,), (30.0,), (100.0,)]),
    "kernel ridge": (
        kernel_ridge,
        [(0.4, 0.3), (0.4, 1.0), (0.4, 3.0), (0.8, 0.3), (0.8, 1.0), (0.8, 3.0)],
    ),
    "logistic regression": (logistic, [(0.3,), (1.0,), (3.0,), (10.0,), (30.0,), (100.0,)]),
    "nearest neighbours": (nearest, [(3,), (10,), (30,), (100,), (200,), (300,)]),
}
"""Scorers and the settings that were tried for each, equally many."""
