"""Functions of embeddings: class means, the published forward pass, and selection of replay nodes.

Three functions compute a cost for each node, and :func:`lowest_cost_nodes` selects the nodes with
the lowest costs of each class. :func:`herding` selects nodes one after the other.
"""

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.neural.device import to_tensor
from nodegraft.methods.neural.encoders import Encoder
from nodegraft.model.hooks import PublishedLesson


def class_means(embeddings: Tensor, targets: Tensor, num_classes: int) -> Tensor:
    r"""Return class means :math:`p_k = \frac{1}{|S_k|} \sum_{j \in S_k} z_j`, Eq. (PN) of HAG-Meta.

    >>> class_means(torch.tensor([[1.0], [3.0], [5.0]]), torch.tensor([0, 0, 1]), 2).tolist()
    [[2.0], [5.0]]

    Args:
        embeddings: Embedding of each node (:math:`z`).
        targets: Class index of each node.
        num_classes: Number of classes; a class without nodes gets a row of zeros.
    """
    sums = embeddings.new_zeros(num_classes, embeddings.shape[1])
    sums.index_add_(0, targets, embeddings)
    counts = torch.bincount(targets, minlength=num_classes).clamp(min=1)
    return sums / counts[:, None]


def squared_distances(embeddings: Tensor, prototypes: Tensor) -> Tensor:
    r"""Return :math:`\lVert z_i - p_k \rVert^2` for every pair, computed from differences.

    The rounding of the expanded form would depend on the number of rows.

    >>> squared_distances(torch.tensor([[3.0, 4.0]]), torch.zeros(1, 2)).tolist()
    [[25.0]]
    """
    mode = "donot_use_mm_for_euclid_dist"
    return torch.cdist(embeddings, prototypes, compute_mode=mode).square()


def cosines(embeddings: Tensor, prototypes: Tensor) -> Tensor:
    r"""Return :math:`\cos(z_i, p_k)` for every pair; cosines with a zero vector are 0.

    They are computed from distances of unit vectors,
    :math:`(\lVert a \rVert^2 + \lVert b \rVert^2 - d^2) / 2`, because the rounding of a matrix
    product would depend on the number of rows.

    >>> cosines(torch.tensor([[3.0, 0.0], [0.0, 0.0]]), torch.tensor([[2.0, 0.0]])).tolist()
    [[1.0], [0.0]]
    """
    rows, others = F.normalize(embeddings), F.normalize(prototypes)
    lengths = rows.square().sum(dim=1)[:, None] + others.square().sum(dim=1)
    return (lengths - squared_distances(rows, others)) / 2.0


def published_embeddings(
    encoder: Encoder,
    lesson: PublishedLesson,
    noise: np.random.Generator,
    weigh: Callable[[NodeLabels, Tensor], Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return a prototype for each of ``lesson.columns``, and embeddings of the queries.

    Prototypes of old classes are computed in a separate forward pass, as in the authors' code, so
    its dropout differs from that of the queries.

    Args:
        lesson: Supports and queries in the form of the published code.
        noise: Random generator for dropout.
        weigh: Function that computes prototypes of new classes from their supports and embeddings;
            None for plain means.
    """

    def embed(rows: NDArray[np.int64]) -> Tensor:
        neighbourhood, places = lesson.view.around(rows, encoder.hops)
        embedded: Tensor = encoder(neighbourhood, lesson.dropout, noise)
        return embedded[to_tensor(places, embedded.device)]

    known = [task for task in (*lesson.old, lesson.doubled) if len(task)]
    old = torch.split(embed(np.concatenate([task.rows() for task in known])), _sizes(known))
    parts = [_means(task, vectors) for task, vectors in zip(known, old, strict=True)]
    rows = [lesson.new.rows(), lesson.query.rows()]
    supports, queries = torch.split(embed(np.concatenate(rows)), [part.size for part in rows])
    if len(lesson.new):
        parts.append((weigh or _means)(lesson.new, supports))
    return torch.cat(parts), queries


def _sizes(tasks: list[NodeLabels]) -> list[int]:
    return [task.num_nodes for task in tasks]


def _means(task: NodeLabels, vectors: Tensor) -> Tensor:
    targets = to_tensor(task.targets(task.classes), vectors.device)
    return class_means(vectors, targets, len(task))


MAX_DISTANCES = 2**24
"""Maximum number of distances in memory at once."""


def lowest_cost_nodes(labelled: NodeLabels, costs: Tensor, count: int) -> NodeLabels:
    """Return the nodes with the lowest costs of each class, lowest cost first.

    >>> labelled = NodeLabels({"hats": [7, 8, 9], "caps": [4]})
    >>> lowest_cost_nodes(labelled, torch.tensor([2.0, 0, 1, 5]), 2).to_lists()
    {'hats': [8, 9], 'caps': [4]}

    Args:
        costs: Cost of each node, in the order of ``labelled.rows()``; equal costs keep that order.
        count: Maximum number of nodes of each class.
    """
    parts = torch.split(costs, [rows.size for rows in labelled.values()])
    return NodeLabels(
        {
            name: rows[part.argsort(stable=True)[:count].cpu().numpy()]
            for (name, rows), part in zip(labelled.items(), parts, strict=True)
        }
    )


def mean_of_feature(vectors: Tensor, targets: Tensor, means: Tensor) -> Tensor:
    r"""Return each node's distance to its class mean, :math:`\lVert z_i - \bar z_{y_i} \rVert`.

    >>> vectors, classes = torch.tensor([[0.0], [4.0], [5.0]]), torch.tensor([0, 0, 0])
    >>> mean_of_feature(vectors, classes, means=torch.tensor([[3.0]])).tolist()
    [3.0, 1.0, 2.0]

    Args:
        vectors: Embedding of each node (:math:`z`).
        targets: Class index of each node.
        means: Mean embedding of each class.
    """
    distances: Tensor = torch.linalg.vector_norm(vectors - means[targets], dim=1)
    return distances


def coverage_maximisation(vectors: Tensor, targets: Tensor, radius: float) -> Tensor:
    r"""Count each node's near nodes of other classes: :math:`|\{j : y_j \ne y_i, d_{ij} < r\}|`.

    >>> near, classes = torch.tensor([[0.0], [1.0], [1.5]]), torch.tensor([0, 0, 1])
    >>> coverage_maximisation(near, classes, radius=1.0).tolist()
    [0.0, 1.0, 1.0]

    Args:
        vectors: Embedding of each node.
        targets: Class index of each node.
        radius: Maximum Euclidean distance of a near node (:math:`r`).
    """
    block = max(1, MAX_DISTANCES // max(1, len(vectors)))
    counts = []
    for some, own in zip(torch.split(vectors, block), torch.split(targets, block), strict=True):
        # Compute distances from differences, because rounding of the expanded form would change
        # counts.
        close = torch.cdist(some, vectors, compute_mode="donot_use_mm_for_euclid_dist") < radius
        counts.append((close & (own[:, None] != targets)).sum(dim=1).float())
    return torch.cat(counts)


def influence_maximisation(
    vectors: Tensor, targets: Tensor, head: Tensor, damping: float
) -> Tensor:
    r"""Return minus the distance by which the head's weights would change if a node were absent.

    To first order they change by :math:`\frac{1}{n} H^{-1} \nabla_W \ell_i`, the influence of
    Koh & Liang 2017 (https://arxiv.org/abs/1703.04730). Here the encoder is fixed, so only
    the head changes. Of the Hessian, only the diagonal blocks of each class are used:
    :math:`H_c = \frac{1}{n} \sum_i p_{ic} (1 - p_{ic}) z_i z_i^\top + \lambda I`, so that

    .. math:: I_i^2 = \sum_c (p_{ic} - [y_i = c])^2 \, \lVert H_c^{-1} z_i \rVert^2 / n^2

    >>> vectors, head = torch.tensor([[1.0], [1.0], [-1.0]]), torch.tensor([[2.0], [-2.0]])
    >>> costs = influence_maximisation(vectors, torch.tensor([0, 1, 1]), head, damping=0.1)
    >>> costs.round(decimals=2).tolist()
    [-0.07, -3.93, -0.07]

    Args:
        vectors: Embedding of each node (:math:`z`).
        targets: Class index of each node.
        head: Weights of the head, one row per class.
        damping: Number that keeps every :math:`H_c` invertible (:math:`\lambda`), above 0; larger
            values make influences more similar.
    """
    wide = vectors.double()
    shares = torch.softmax(wide @ head.double().T, dim=1)
    errors = shares - F.one_hot(targets, len(head))
    identity = torch.eye(wide.shape[1], dtype=torch.float64, device=wide.device)
    total = wide.new_zeros(len(wide))
    for share, error in zip(shares.T, errors.T, strict=True):
        curvature = (wide.T * (share * (1.0 - share))) @ wide / len(wide) + damping * identity
        total += error.square() * torch.linalg.solve(curvature, wide.T).square().sum(dim=0)
    return -total.sqrt() / len(wide)


def herding(vectors: Tensor, count: int) -> list[int]:
    r"""Return positions of nodes whose running mean stays closest to the mean of all nodes.

    .. math:: p_k = \arg\min_i \Bigl\lVert \bar z - \frac{1}{k}
        \Bigl(z_i + \sum_{j<k} z_{p_j}\Bigr) \Bigr\rVert

    Each node is selected at most once. Any prefix of the list is a good shorter selection.

    >>> herding(torch.tensor([[0.0], [1.0], [5.0]]), 2)
    [1, 2]

    Args:
        vectors: Embedding of each node (:math:`z`).
        count: Maximum number of nodes.
    """
    mean, chosen_rows = vectors.mean(dim=0), list[int]()
    total = torch.zeros_like(mean)
    for number in range(1, min(count, len(vectors)) + 1):
        distances = torch.linalg.vector_norm(mean - (vectors + total) / number, dim=1)
        distances[chosen_rows] = torch.inf
        chosen_rows.append(int(distances.argmin()))
        total = total + vectors[chosen_rows[-1]]
    return chosen_rows
