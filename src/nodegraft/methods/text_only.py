"""Text only: what the features say without a single edge, as a bound to hold the graph against."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.methods.sgc_mean import SGCMean


@dataclass(kw_only=True)
class TextOnly(SGCMean):
    r"""Centred cosine to class means of the features as they are, :math:`z = X`.

    It is :class:`~nodegraft.methods.sgc_mean.SGCMean` after no hop. What a method on the graph
    scores above it is what the edges are worth; one that scores below has lost something.
    """

    # A constant here rather than a field: with a hop it would not be this bound any more.
    hops: ClassVar[int] = 0  # type: ignore[misc]

    name: ClassVar[str] = "text-only"
    summary: ClassVar[str] = "features without edges, centred cosine to class means: a bound"
    citation: ClassVar[str] = ""
