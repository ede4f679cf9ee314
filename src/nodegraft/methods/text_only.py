"""Text only: a baseline on features without edges, which shows how much the graph adds."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.methods.sgc_mean import SGCMean


@dataclass(kw_only=True)
class TextOnly(SGCMean):
    r"""Centred cosine with class means of unpropagated features, :math:`z = X`.

    It is :class:`~nodegraft.methods.sgc_mean.SGCMean` with 0 hops. The gain of a graph method over
    this baseline is the value of the edges.
    """

    # ``hops`` is a constant and not a parameter here, because this baseline must not use edges.
    hops: ClassVar[int] = 0  # type: ignore[misc]

    name: ClassVar[str] = "text-only"
    summary: ClassVar[str] = "features without edges, centred cosine to class means: a bound"
    citation: ClassVar[str] = ""
