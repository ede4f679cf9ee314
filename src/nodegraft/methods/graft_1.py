"""Graft's first edition, to hold the second against."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.methods.graft import Graft


@dataclass(kw_only=True)
class GraftOne(Graft):
    """Graft without what its second edition brought.

    Kinds and directions of edges alike, no word ratios, no regression, no means refined by
    unlabelled nodes, and walks of one length. How sure answers are is told in the same way.

    Records from before the second edition were made by its own code, which kept the sums of all
    labels as they were in the session of each class.
    """

    # Constants here rather than fields: with one of them it would be another method.
    words: ClassVar[bool] = False  # type: ignore[misc]
    edge_kinds: ClassVar[bool] = False  # type: ignore[misc]
    directions: ClassVar[bool] = False  # type: ignore[misc]
    ridge: ClassVar[bool] = False  # type: ignore[misc]
    refine: ClassVar[bool] = False  # type: ignore[misc]
    far_walks: ClassVar[bool] = False  # type: ignore[misc]

    name: ClassVar[str] = "graft-1"
    summary: ClassVar[str] = "graft as it was first: class means by hop and near walks, mixed"
