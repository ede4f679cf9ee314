"""Texts that come as counts of numbered words."""

from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.matrix import normalise_rows

COUNTS_NOTE = (
    "Which words are columns was chosen over the texts of all classes, later ones included; a "
    "node's row depends on its own text alone (1 + log of its counts, no inverse document "
    "frequencies)."
)


def read_counts(texts: Iterable[str], columns: int) -> "csr_array[Any]":
    """One row for each text of ``column:count`` pairs.

    >>> read_counts(["0:2 2:1", ""], 3).toarray().tolist()
    [[2.0, 0.0, 1.0], [0.0, 0.0, 0.0]]

    Args:
        texts: The pairs of each node, with blanks between.
    """
    # Plain lists of some million numbers would take ten times the memory.
    words, counts, ends = array("q"), array("q"), array("q", [0])
    for text in texts:
        for pair in text.split():
            word, _, count = pair.partition(":")
            if not (word.isdecimal() and count.isdecimal()):
                raise DataError(f"{pair!r} is no column:count pair: fetch the file again.")
            words.append(int(word))
            counts.append(int(count))
        ends.append(len(words))
    places = np.array(words, dtype=np.int64)
    values = np.array(counts, dtype=np.float32)
    if places.size and not (places.max() < columns and values.min() >= 1):
        raise DataError(
            f"Columns must be 0 to {columns - 1} and counts at least 1: these words and counts do "
            "not belong together, or a file was damaged; fetch both again."
        )
    return csr_array((values, places, np.array(ends)), shape=(len(ends) - 1, columns))


def weighted_counts(counts: "csr_array[Any]") -> "csr_array[Any]":
    """Entries 1 + log(count), rows of length 1: a word said ten times counts little more than one.

    >>> weighted_counts(csr_array([[9.0, 0.0], [0.0, 1.0]])).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    weights = (1 + np.log(counts.data)).astype(np.float32)
    logged = csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)
    return csr_array(normalise_rows(logged))
