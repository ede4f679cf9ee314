"""Which words tell a group of nodes from all others."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.tables.features.recipe import FeatureRecipe


def telling_words(graph: Graph, rows: IntArray, others: IntArray, count: int) -> tuple[str, ...]:
    """The words that nodes have much more often than others, the most telling first.

    Args:
        graph: A graph; where its features are not made of text there are no words.
        rows: The nodes.
        others: Those they are compared with.
        count: How many words at most.
    """
    words = graph.recipe.words if isinstance(graph.recipe, FeatureRecipe) else []
    if not words:
        return ()
    own, their = (
        np.bincount(csr_array(graph.features(some)).indices, minlength=graph.num_features)
        for some in (rows, others)
    )
    scores = log_odds(own[: len(words)], their[: len(words)])
    best = np.argsort(-scores, kind="stable")[:count]
    return tuple(words[place] for place in best if scores[place] > 0)


def log_odds(own: IntArray, others: IntArray) -> NDArray[np.float64]:
    r"""How much more often each word occurs here than there, in standard errors.

    .. math:: \frac{\log \frac{y_w + a_w}{n + a - y_w - a_w}
        - \log \frac{y'_w + a_w}{n' + a - y'_w - a_w}}
        {\sqrt{\frac{1}{y_w + a_w} + \frac{1}{y'_w + a_w}}}

    :math:`y_w` of the :math:`n` words here, :math:`y'_w` of the :math:`n'` there are :math:`w`. The
    prior is as many words as there are here, shared out as in both together: a rare word must occur
    several times before it tells anything (Monroe, Colaresi and Quinn 2008, "Fightin' Words").

    >>> log_odds(np.array([8, 1, 9]), np.array([2, 0, 80])).round(1).tolist()
    [3.7, 1.2, -10.5]

    Args:
        own: How often each word occurs here.
        others: How often it occurs there.
    """
    total, both = max(own.sum(), 1), own + others
    prior = total * (both + 1e-9) / max(both.sum(), 1)
    here, there = own + prior, others + prior
    gap = np.log(here / (here.sum() - here + 1e-9)) - np.log(there / (there.sum() - there + 1e-9))
    scores: NDArray[np.float64] = gap / np.sqrt(1.0 / here + 1.0 / there)
    return scores
