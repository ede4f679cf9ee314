"""Labels as people have them (a dict, a table, a pandas Series) by class."""

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from nodegraft.base.errors import ClassNameError, DataError
from nodegraft.graph.graph import Graph
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.keys import Key, KeyArray, key_array
from nodegraft.graph.labels import NodeLabels
from nodegraft.tables.columns import Source, SourceTable, keys_like, node_keys, read_source

KEY, LABEL = "key", "label"
"""What the columns of a table of labels are called, unless somebody says otherwise."""

Labels = Mapping[str, Iterable[Key]] | Source
"""Class name -> keys of its nodes; or a table with the columns ``key`` and ``label``, or a pandas
Series whose index are keys."""


def keys_by_class(labels: Labels) -> Mapping[str, Iterable[Key]]:
    """Class name -> keys, from whatever carries labels; where a class name is missing, none.

    >>> keys_by_class(pa.table({"key": ["p1", "p2", "p3"], "label": ["hats", None, "hats"]}))
    {'hats': ['p1', 'p3']}

    Args:
        labels: A dict, which stays as it is; an Arrow, pandas or Polars table; or a pandas Series.
    """
    if isinstance(labels, NodeLabels):
        raise ClassNameError(
            "These labels are by row, and keys are needed: give "
            "nodegraft.graph.keyed_labels.KeyedLabels.of(labels, graph)."
        )
    if isinstance(labels, Mapping):
        return labels
    table = _named(SourceTable(_arrow(labels), "the table of labels"))
    return _grouped(node_keys(table, KEY) if len(table) else key_array([]), table.texts(LABEL))


def read_labels(
    labels: Source,
    graph: Graph,
    *,
    key: str = KEY,
    label: str = LABEL,
    convert_keys: bool = False,
) -> KeyedLabels:
    """Labels from a table of node keys and class names; rows without a name are skipped.

    Args:
        labels: The table, a file or in memory.
        graph: The graph whose nodes it names; nodes it does not have are refused.
        key: The column of node keys.
        label: The column of class names; numbers are read as text.
        convert_keys: Whether a column of keys that has another type than the graph's keys is
            converted (7 becomes ``"7"``); it is refused otherwise. Keys of a CSV file have no type
            and are always read in that of the graph's.
    """
    table = read_source(labels, "labels", (label, key))
    if convert_keys or not table.typed:
        table = table.with_keys([key], graph.node_keys.key_type)
    return labels_in(table, graph, key, label)


def labels_in(table: SourceTable, graph: Graph, key: str, label: str) -> KeyedLabels:
    """Like :func:`read_labels`, from a table whose keys have the type of the graph's.

    Args:
        table: The table of labels.
        graph: The graph whose nodes it names.
        key: The column of node keys.
        label: The column of class names.
    """
    named = _named(table, label)
    by_class = _grouped(keys_like(graph.node_keys, named, key), named.texts(label))
    # Whatever does not fit is refused here, with the keys of the nodes.
    NodeLabels.by_key(graph, by_class)
    return KeyedLabels({name: key_array(by_class[name]) for name in sorted(by_class)})


def _named(table: SourceTable, label: str = LABEL) -> SourceTable:
    """The rows that have a class name."""
    return table.filter(pa.array([name is not None for name in table.texts(label)], pa.bool_()))


def _grouped(keys: KeyArray, names: Iterable[str | None]) -> dict[str, list[Key]]:
    # A row that comes twice says nothing new: tables of nodes with a column of labels have such.
    by_class: dict[str, dict[Key, None]] = {}
    for key, name in zip(keys.tolist(), names, strict=True):
        by_class.setdefault(str(name), {})[key] = None
    return {name: list(members) for name, members in by_class.items()}


def _arrow(labels: Any) -> Any:
    try:
        if _is_series(labels):
            return pa.table({KEY: pa.array(labels.index), LABEL: pa.array(labels)})
        table = pa.table(labels)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise ClassNameError(
            "Labels are a dict, class name -> list of node keys; or a table with the columns "
            f"{KEY!r} and {LABEL!r}; or a pandas Series whose index are keys. "
            f"A {type(labels).__name__} was given ({error})."
        ) from error
    if not {KEY, LABEL} <= {*table.column_names}:
        raise DataError(
            f"A table of labels needs the columns {KEY!r} and {LABEL!r}; this one has "
            f"{', '.join(table.column_names)}. Rename them, or read it with "
            "nodegraft.read_labels(table, graph, key=…, label=…)."
        )
    return table


def _is_series(labels: Any) -> bool:
    # pandas is nobody's dependency here, so that it is known by what it has.
    return all(hasattr(labels, name) for name in ("index", "to_numpy", "items")) and not hasattr(
        labels, "columns"
    )
