"""MAGIC, our interpretation: ridge regression with new classes refined by a Potts model."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.parameters.constraints import (
    NonNegativeFloat,
    NonNegativeInt,
    OpenFraction,
    PositiveFloat,
    PositiveInt,
)
from nodegraft.graph.keys import hash_order
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.linear.dual import Dual, dual_ridge
from nodegraft.methods.templates.propagated import KernelHead, Solved
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class Magic(KernelHead):
    r"""Class-balanced ridge regression on :math:`z = [X, SX, S^2X]`, solved twice.

    Two numbers describe how labels of neighbours depend on each other. They are computed from edges
    between labelled nodes of the classes known at ``fit``: :math:`J_\mathrm{same} = \log(o / e)`
    with the observed and the expected share of edges within a class, and
    :math:`J_\mathrm{diff} = \log((1 - o) / (1 - e))`. Within two hops of the labels of classes with
    few labels, a Potts model is solved by the mean-field method. It starts from the first ridge
    solution :math:`u_i(c) = \tau w_c^\top z_i`, with labelled nodes fixed:

    .. math:: q_i(c) \propto \exp\Bigl(u_i(c) + \sum_{j \in N(i)} [J_\mathrm{same} q_j(c) +
        J_\mathrm{diff} (1 - q_j(c))]\Bigr)

    For the second ridge solution, a node whose probability of a class with few labels is above
    ``threshold`` is added to the labels of this class; at most ``most_joining`` nodes are added to
    each class. MAGIC, 2026, https://arxiv.org/abs/2610.04963.

    Only the abstract was available, so equations and values are our interpretation. The third part
    of the method, predictions of old nodes as targets for their changed representations, is left
    out: all labels are stored here, and their representations are computed on the current graph.
    """

    penalty: PositiveFloat = 0.1
    r"""Strength of L2 regularisation; feature rows have length 1."""

    few_labels: PositiveInt = 20
    """Classes with fewer labels than this number are refined."""

    sharpness: PositiveFloat = 10.0
    r"""Factor for the scores of the first ridge solution in the Potts model (:math:`\tau`)."""

    rounds: NonNegativeInt = 5
    """Number of mean-field iterations."""

    threshold: OpenFraction = 0.9
    """Probability above which a node is added to the labels of a class."""

    most_joining: NonNegativeInt = 10
    """Maximum number of nodes added to each class: those with the highest scores."""

    strength: NonNegativeFloat = 1.0
    """Factor of both coupling numbers; 0 ignores edges between nodes."""

    prior_: list[float] = learned()
    r"""Coupling numbers :math:`J_\mathrm{same}` and :math:`J_\mathrm{diff}`."""

    name: ClassVar[str] = "magic"
    summary: ClassVar[str] = "our reading of MAGIC: ridge regression refined by a Potts field"
    citation: ClassVar[str] = "MAGIC 2026 (arXiv 2610.04963)"
    reversible: ClassVar[bool] = True

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Compute the coupling numbers, then solve the regression for the known classes."""
        self.prior_ = list(label_pair_prior(view, curriculum.train))
        super().learn_base(view, curriculum)

    def derive(self, view: GraphView) -> Solved:
        """Solve the regression on all labels.

        Then nodes are added to classes with few labels, and the regression is solved again.
        """
        first = super().derive(view)
        labels = self.labels_.on(view)
        few = [place for place, rows in enumerate(labels.values()) if rows.size < self.few_labels]
        if not few or not self.most_joining:
            return first
        names = labels.classes
        ball = two_hops(view, np.concatenate([labels[names[place]] for place in few]))
        scores = np.concatenate(
            [
                self.scores_of(view, ball[start : start + self.block_rows], first)
                for start in range(0, ball.size, self.block_rows)
            ]
        )
        fixed = fixed_labels(ball, labels)
        field = mean_field(
            self.sharpness * scores,
            fixed,
            edges_within(view, ball),
            self.strength * (self.prior_[0] - self.prior_[1]),
            self.rounds,
        )
        sure = (fixed < 0) & (field.max(axis=1) > self.threshold)
        more = dict(self.labels_.on(view, self.kept_labels))
        for place in few:
            joining = np.flatnonzero(sure & (field.argmax(axis=1) == place))
            # Round the scores, so that rounding errors do not affect the order.
            ranks = hash_order(view.key_array_of(ball[joining])).argsort()
            order = np.lexsort((ranks, -scores[joining, place].round(9)))
            own = more[names[place]]
            more[names[place]] = np.concatenate((own, ball[joining[order[: self.most_joining]]]))
        return self.solved(view, NodeLabels(more))

    def solve(self, gram: NDArray[np.float64], counts: NDArray[np.int64], width: int) -> Dual:
        """Solve a ridge regression on one-hot targets."""
        return dual_ridge(gram, counts, self.penalty)


def label_pair_prior(view: GraphView, labels: NodeLabels) -> tuple[float, float]:
    r"""Compute :math:`J_\mathrm{same}` and :math:`J_\mathrm{diff}` from labelled edges.

    Labelled edges join two labelled nodes. The counts include one additional edge, which is within
    a class with the probability of a random edge, so that both numbers are finite. Both are 0 if
    no edge is labelled, or all labelled edges are within one class.
    """
    rows = np.sort(labels.rows())
    classes = fixed_labels(rows, labels)
    ends = edges_within(view, rows).nonzero()
    if not ends[0].size:
        return 0.0, 0.0
    same = (classes[ends[0]] == classes[ends[1]]).sum() / 2
    edges = ends[0].size / 2
    shares = np.bincount(classes[ends[0]], minlength=len(labels)) / ends[0].size
    chance = float((shares**2).sum())
    observed = (same + chance) / (edges + 1)
    if chance >= 1:
        return 0.0, 0.0
    return float(np.log(observed / chance)), float(np.log((1 - observed) / (1 - chance)))


def two_hops(view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row numbers of all nodes within two hops of the given nodes, ascending."""
    near = np.union1d(rows, view.neighbours(rows)[1])
    return np.union1d(near, view.neighbours(near)[1]).astype(np.int64)


def edges_within(view: GraphView, rows: NDArray[np.int64]) -> "csr_array[float]":
    """Return the adjacency matrix of the given nodes, with 1 for each edge.

    Args:
        rows: Row numbers of the nodes, ascending.
    """
    counts, neighbours = view.neighbours(rows)
    sources = np.repeat(np.arange(rows.size), counts)
    inside = np.isin(neighbours, rows)
    places = np.searchsorted(rows, neighbours[inside])
    entries = np.ones(places.size), (sources[inside], places)
    return csr_array(entries, shape=(rows.size, rows.size))


def fixed_labels(rows: NDArray[np.int64], labels: NodeLabels) -> NDArray[np.int64]:
    """Return the class index of each node, or -1 for nodes without a label.

    >>> fixed_labels(np.array([2, 5, 9]), NodeLabels({"hats": [9], "caps": [2]})).tolist()
    [1, -1, 0]

    Args:
        rows: Row numbers of the nodes, ascending.
    """
    fixed = np.full(rows.size, -1)
    for number, own in enumerate(labels.values()):
        fixed[np.isin(rows, own)] = number
    return fixed


def mean_field(
    unary: NDArray[np.float64],
    fixed: NDArray[np.int64],
    edges: "csr_array[float]",
    coupling: float,
    rounds: int,
) -> NDArray[np.float64]:
    r"""Return the class probabilities :math:`q` of a Potts model by the mean-field method.

    .. math:: q_i(c) \propto \exp\Bigl(u_i(c) + J \sum_{j \in N(i)} q_j(c)\Bigr)

    Only the difference :math:`J = J_\mathrm{same} - J_\mathrm{diff}` matters, because
    :math:`J_\mathrm{diff}` adds an equal number to each class.

    >>> field = mean_field(
    ...     np.zeros((2, 2)), np.array([0, -1]), csr_array([[0.0, 1], [1, 0]]), np.log(3), 1
    ... )
    >>> field.round(6).tolist()
    [[1.0, 0.0], [0.75, 0.25]]

    Args:
        unary: Scores (:math:`u`): nodes x classes.
        fixed: Class index of each labelled node, -1 for other nodes.
        coupling: Increase of a node's score for a class if a neighbour has this class (:math:`J`).
        rounds: Number of iterations; each one updates all nodes at once.
    """
    from scipy.special import softmax

    known = fixed >= 0
    one_hot = np.eye(unary.shape[1])[fixed[known]]

    def shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
        probabilities: NDArray[np.float64] = softmax(scores, axis=1)
        probabilities[known] = one_hot
        return probabilities

    field = shares(unary)
    for _ in range(rounds):
        field = shares(unary + coupling * (edges @ field))
    return field
