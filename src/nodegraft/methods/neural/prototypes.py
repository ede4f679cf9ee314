"""Class means of embeddings, and the forward pass of the published evaluation."""

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.neural.encoders import Encoder
from nodegraft.model.hooks import PublishedLesson


def class_means(embeddings: Tensor, targets: Tensor, num_classes: int) -> Tensor:
    r"""Return rows :math:`p_k = \frac{1}{|S_k|} \sum_{j \in S_k} z_j`, the paper's Eq. (PN).

    >>> class_means(torch.tensor([[1.0], [3.0], [5.0]]), torch.tensor([0, 0, 1]), 2).tolist()
    [[2.0], [5.0]]

    Args:
        targets: The number of each node's class, from 0.
        num_classes: How many rows the result has; a class without nodes gets zeros.
    """
    sums = torch.zeros(num_classes, embeddings.shape[1], dtype=embeddings.dtype)
    sums.index_add_(0, targets, embeddings)
    counts = torch.bincount(targets, minlength=num_classes).clamp(min=1)
    return sums / counts[:, None]


def squared_distances(embeddings: Tensor, prototypes: Tensor) -> Tensor:
    r"""Return :math:`\lVert z_i - p_k \rVert^2` for every pair, computed by differences.

    The expanded form would round differently for one row than for many.

    >>> squared_distances(torch.tensor([[3.0, 4.0]]), torch.zeros(1, 2)).tolist()
    [[25.0]]
    """
    mode = "donot_use_mm_for_euclid_dist"
    return torch.cdist(embeddings, prototypes, compute_mode=mode).square()


def cosines(embeddings: Tensor, prototypes: Tensor) -> Tensor:
    r"""Return :math:`\cos(z_i, p_k)` for every pair; a vector of zeros is similar to nothing.

    By the distance of unit vectors, :math:`(\lVert a \rVert^2 + \lVert b \rVert^2 - d^2) / 2`: a
    product of matrices would round differently for one row than for many.

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
    """Return prototypes, one for each of ``lesson.columns``, and embeddings of the queries.

    Prototypes of old classes come from a pass of their own, as in the authors' code: what is
    dropped in it is not what is dropped for the queries.

    Args:
        weigh: Makes prototypes of new classes from their supports and those embeddings; None for
            plain means.
    """

    def embed(rows: NDArray[np.int64]) -> Tensor:
        neighbourhood, places = lesson.view.around(rows, encoder.hops)
        embedded: Tensor = encoder(neighbourhood, lesson.dropout, noise)
        return embedded[torch.from_numpy(places)]

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
    return class_means(vectors, torch.from_numpy(task.targets(task.classes)), len(task))
