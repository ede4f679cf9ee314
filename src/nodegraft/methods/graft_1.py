"""Graft's first edition, to compare later ones with."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.methods.graft import Graft


@dataclass(kw_only=True)
class GraftOne(Graft):
    """Graft without what its second edition brought.

    Kinds and directions of edges alike, no word ratios, neither regression, no means refined by
    unlabelled nodes, and only short diffusion times, where the first edition had random walks.
    Confidence is computed as in :class:`~nodegraft.methods.graft.Graft`.
    """

    # Constants rather than fields: with one of them changed it would be another method.
    words: ClassVar[bool] = False  # type: ignore[misc]
    edge_kinds: ClassVar[bool] = False  # type: ignore[misc]
    directions: ClassVar[bool] = False  # type: ignore[misc]
    ridge: ClassVar[bool] = False  # type: ignore[misc]
    typed_blocks: ClassVar[bool] = False  # type: ignore[misc]
    refine: ClassVar[bool] = False  # type: ignore[misc]
    far_diffusion: ClassVar[bool] = False  # type: ignore[misc]

    name: ClassVar[str] = "graft-1"
    summary: ClassVar[str] = "graft as it was first: class means by hop and short diffusion, mixed"
