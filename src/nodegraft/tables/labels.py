"""Labels as people have them (a dict, a table, a pandas Series) by class."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from nodegraft.base.errors import ClassNameError, DataError
from nodegraft.graph.class_names import (
    MOST_CHARACTERS,
    has_control_characters,
    likely_duplicates,
)
from nodegraft.graph.graph import Graph
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.keys import Key, KeyArray, NodeKeys, key_array
from nodegraft.graph.labels import NodeLabels
from nodegraft.tables.columns import Source, SourceTable, node_keys, read_source, require_columns
from nodegraft.tables.data_report import Finding, finding, require_usable
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.key_columns import rows_named

KEY, LABEL = "key", "label"
"""What the columns of a table of labels are called, unless somebody says otherwise."""

ALIKE = "groups of class names that differ only by case or blanks"
"""What the report says of names that are probably the same."""

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
    repair: bool = False,
    delimiter: str | None = None,
) -> KeyedLabels:
    """Labels from a table of node keys and class names; rows without a name are skipped.

    Args:
        labels: The table, a file or in memory.
        graph: The graph whose nodes it names.
        key: The column of node keys.
        label: The column of class names; numbers are read as text.
        convert_keys: Whether a column of keys that has another type than the graph's keys is
            converted (7 becomes ``"7"``); it is refused otherwise. Keys of a CSV file have no type
            and are always read in that of the graph's.
        repair: Class names with blanks at an end, unknown nodes and nodes with two classes are
            refused, all at once with their rows; this strips such names, drops such rows and keeps
            the first class of such a node.
        delimiter: What separates the columns of a CSV file; None to look at its header.
    """
    table = read_source(labels, "labels", (label, key), delimiter)
    require_columns(
        [(table, (key, label))],
        "Name its columns: key='id' (--label-key id), label='class' (--label class).",
    )
    recipe = getattr(graph, "recipe", None)
    if isinstance(recipe, FeatureRecipe) and label in recipe.columns:
        raise DataError(
            f"The column {label!r} of {table.place} holds class names, and a column of that name "
            "is among the features of the graph, which would leak the classes. Build the graph "
            "without it; if it is another column, rename the one with class names."
        )
    if convert_keys or not table.typed:
        table = table.with_keys([key], graph.node_keys.key_type)
    found = labels_in(table, graph.node_keys, key, label)
    require_usable(found.findings, repair, "\n".join(map(str, found.findings)))
    return found.labels


class LabelsRead(NamedTuple):
    """Labels of a table, repaired, and what is odd about it."""

    labels: KeyedLabels
    """The keys of each class, sorted by name."""

    findings: list[Finding]
    """What is odd."""


def labels_in(table: SourceTable, keys: NodeKeys, key: str, label: str) -> LabelsRead:
    """Return the labels of a table whose keys have the type of the nodes' keys.

    Args:
        table: The table of labels.
        keys: The nodes.
        key: The column of node keys.
        label: The column of class names.
    """
    table = _named(table, label)
    raw = [str(name) for name in table.texts(label)]
    names = [name.strip() for name in raw]
    rows = rows_named(keys, table, key)
    owners: dict[int, str] = {}
    kinds: dict[str, list[int]] = {"padded": [], "blank": [], "odd": [], "unknown": [], "other": []}
    for place, (name, row) in enumerate(zip(names, rows.tolist(), strict=True)):
        if not name:
            kinds["blank"].append(place)
            continue
        if name != raw[place]:
            kinds["padded"].append(place)
        if len(name) > MOST_CHARACTERS or has_control_characters(name):
            kinds["odd"].append(place)
        if row < 0:
            kinds["unknown"].append(place)
        elif owners.setdefault(row, name) != name:
            kinds["other"].append(place)
    by_class: dict[str, list[int]] = {}
    for row, name in owners.items():
        by_class.setdefault(name, []).append(row)
    labels = {name: key_array(keys.array_at(by_class[name])) for name in sorted(by_class)}
    findings = _label_findings(table, key, label, kinds, raw)
    alike = [" and ".join(map(repr, group)) for group in likely_duplicates(labels)]
    findings += finding(ALIKE, len(alike), alike)
    return LabelsRead(KeyedLabels(labels), findings)


def _label_findings(
    table: SourceTable, key: str, label: str, kinds: Mapping[str, list[int]], names: list[str]
) -> list[Finding]:
    places = {kind: np.array(found, dtype=np.int64) for kind, found in kinds.items()}
    column = table.column(key)

    def told(kind: str, what: str, blocking: str, fatal: bool = False) -> list[Finding]:
        some, of_nodes = places[kind], kind in ("unknown", "other")
        values = (column[place].as_py() if of_nodes else repr(names[place][:40]) for place in some)
        examples, where = table.examples(some, values), table.where(key if of_nodes else label)
        return finding(what, some.size, examples, blocking, where=where, fatal=fatal)

    allowed = f"more than {MOST_CHARACTERS} characters, or control or invisible ones"
    return [
        *told("blank", "labels whose class name is only blanks", "dropped"),
        *told("padded", "labels whose class name begins or ends with a blank", "stripped"),
        *told("odd", f"labels whose class name has {allowed}", "choose another name", True),
        *told("unknown", "labels of nodes that are not in the table of nodes", "dropped"),
        *told("other", "labels of nodes with another class", "the first class of each is kept"),
    ]


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
