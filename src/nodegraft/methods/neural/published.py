"""A forward pass as the authors' evaluation has it, for networks that keep prototypes."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.neural.encoders.encoder import Encoder
from nodegraft.methods.neural.prototypes import class_means
from nodegraft.model.hooks import PublishedLesson


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
