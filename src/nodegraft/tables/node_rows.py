"""Find rows of node tables with missing or repeated keys."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.keys import KeyArray
from nodegraft.tables.columns import SourceTable
from nodegraft.tables.data_report import Finding, finding
from nodegraft.tables.keys import node_keys


def different_nodes(table: SourceTable, key: str) -> tuple[SourceTable, KeyArray, list[Finding]]:
    """Drop rows with missing or repeated keys; return table, keys and findings.

    Of several rows with the same key, the first remains.
    """
    missing = np.flatnonzero(table.column(key).is_null().to_numpy(zero_copy_only=False))
    examples = [f"row {table.row_number(place)}" for place in missing[:3]]
    what, where = "rows without a node key", table.where(key)
    findings = finding(what, missing.size, examples, "dropped", where=where)
    table = table.without(missing)
    keys = node_keys(table, key)
    first = np.sort(np.unique(keys, return_index=True)[1])
    others = np.setdiff1d(np.arange(keys.size), first)
    findings += repeated_keys(table, key, others, keys[others])
    return table.without(others), keys[first], findings


def repeated_keys(
    table: SourceTable, key: str, rows: IntArray, keys: NDArray[Any]
) -> list[Finding]:
    """Return a finding about rows of a node table whose key occurs in an earlier row."""
    what, repair = "rows with a node key seen before", "the first row of each is kept"
    examples = table.examples(rows, keys[:3])
    return finding(what, rows.size, examples, repair, where=table.where(key))
