"""Methods that the judge's process must never import, in which things go wrong."""

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.view import GraphView
from nodegraft.methods.sgc_mean import SGCMean


@dataclass(kw_only=True)
class Dies(SGCMean):
    """Ends its process."""

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        os._exit(3)


@dataclass(kw_only=True)
class Fails(SGCMean):
    """Raises an error."""

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        raise ValueError("no scores today")


@dataclass(kw_only=True)
class AnswersTooMuch(SGCMean):
    """Returns one probability too many for each node."""

    def probabilities(self, view: GraphView, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        shares = super().probabilities(view, scores)
        return np.hstack((shares, shares[:, :1]))
