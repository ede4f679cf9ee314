"""Read labels from a dict or a table; split them into training and held-out labels."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from nodegraft.base.errors import ClassNameError, DataError
from nodegraft.base.parameters.constraints import NonNegativeInt, OpenFraction
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.graph import Graph
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.keys import Key, NodeKeys, hash_order, key_array, several
from nodegraft.graph.labels import (
    MOST_CHARACTERS,
    NodeLabels,
    has_control_characters,
    likely_duplicates,
)
from nodegraft.graph.node_types import KEY, type_numbers
from nodegraft.tables.columns import Source, SourceTable, read_source, require_columns
from nodegraft.tables.data_report import Finding, finding, require_usable
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.keys import node_keys, rows_named

ByClass = dict[str, list[Key]]

LABEL = "label"
"""Default column of class names in a label table."""

ALIKE = "groups of class names that differ only by case or blanks"
"""Description of the finding about different class names that probably mean the same class."""

FIRST_KEPT = (
    "the first class of each is kept; a new store keeps all with several_labels=True "
    "(--several-labels)"
)
"""Correction of labels of nodes with several classes."""

Labels = Mapping[str, Iterable[Key]] | Source
"""Labels of nodes: a mapping from class name to node keys; a table with the columns ``key`` and
``label``; or a pandas Series of class names with node keys as index.
"""


def keys_by_class(labels: Labels) -> Mapping[str, Iterable[Key]]:
    """Return a mapping from class name to node keys; table rows without a class name are skipped.

    >>> keys_by_class(pa.table({"key": ["p1", "p2", "p3"], "label": ["hats", None, "hats"]}))
    {'hats': ['p1', 'p3']}

    Args:
        labels: A dict, which is returned unchanged; an Arrow, pandas or Polars table; or a pandas
            Series.
    """
    if isinstance(labels, NodeLabels):
        raise ClassNameError(
            "These labels are by row, and keys are needed: give "
            "nodegraft.graph.keyed_labels.KeyedLabels.of(labels, graph)."
        )
    if isinstance(labels, Mapping):
        return labels
    table = _named(SourceTable(_arrow(labels), "the table of labels"))
    keys = node_keys(table, KEY) if len(table) else key_array([])
    # Use dicts to remove duplicates, because a node table with a label column may repeat a row.
    by_class: dict[str, dict[Key, None]] = {}
    for key, name in zip(keys.tolist(), table.texts(LABEL), strict=True):
        by_class.setdefault(str(name), {})[key] = None
    return {name: list(members) for name, members in by_class.items()}


def read_labels(
    labels: Source,
    graph: Graph,
    *,
    key: str = KEY,
    label: str = LABEL,
    convert_keys: bool = False,
    repair: bool = False,
    delimiter: str | None = None,
    several_labels: bool = False,
) -> KeyedLabels:
    """Read labels from a table of node keys and class names; rows without a class name are skipped.

    Args:
        labels: Label table, in a file or in memory.
        graph: Graph with the labelled nodes.
        key: Name of the column with node keys.
        label: Name of the column with class names; numbers are read as text.
        convert_keys: Whether keys of another type than the graph's keys are converted (7 becomes
            ``"7"``). If False, such keys raise an error. Keys of a CSV file are always read in the
            type of the graph's keys.
        repair: Whether to strip blanks around class names, drop rows of unknown nodes and keep only
            the first class of a node with several. If False, such rows raise an error that lists
            them.
        delimiter: Column separator of a CSV file; None to guess it from the header.
        several_labels: Whether a node may have several classes, each in a row of its own.
    """
    validate_value("key", key, str)
    validate_value("several_labels", several_labels, bool)
    validate_value("label", label, str)
    table = read_source(labels, "labels", (label, key), delimiter)
    require_columns(
        {"labels": (table, (key, label))},
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
    result = labels_in(table, graph.node_keys, key, label, graph.node_types, several_labels)
    require_usable(result.findings, repair, "\n".join(map(str, result.findings)))
    return result.labels


def hold_out(labels: Labels, share: float = 0.2, seed: int = 0) -> tuple[ByClass, ByClass]:
    """Split labels into training labels and held-out labels, with the same share for each class.

    Held-out labels are chosen by the hash of their keys. So the split does not depend on the order
    of a table, and hardly changes when a table grows. At least one label of each class remains in
    the training labels.

    >>> training, held_out = hold_out({"hats": range(10), "caps": [20, 21]})
    >>> {name: len(keys) for name, keys in training.items()}, held_out
    ({'hats': 8, 'caps': 2}, {'hats': [3, 5]})

    Args:
        labels: Mapping from class name to node keys; or a table or pandas Series, as in
            :func:`nodegraft.read_labels`.
        share: Share of each class that is held out, between 0 and 1, rounded down to whole nodes.
        seed: Random seed of the split.
    """
    validate_value("share", share, OpenFraction)
    validate_value("seed", seed, NonNegativeInt)
    training, held_out = ByClass(), ByClass()
    for name, class_keys in keys_by_class(labels).items():
        keys = key_array(several(class_keys, f"nodes of class {name!r}"))
        if not keys.size:
            raise ClassNameError(f"Class {name!r} has no nodes.")
        ordered: list[Key] = keys[hash_order(keys, seed)].tolist()
        cut = min(int(share * keys.size), keys.size - 1)
        training[name] = ordered[cut:]
        if cut:
            held_out[name] = ordered[:cut]
    return training, held_out


class LabelsRead(NamedTuple):
    """Corrected labels of a label table, and findings about the table."""

    labels: KeyedLabels
    """Node keys of each class; classes are sorted by name."""

    findings: list[Finding]
    """Findings about the label table, for the data report."""


def labels_in(
    table: SourceTable,
    keys: NodeKeys,
    key: str,
    label: str,
    types: Sequence[str],
    several_labels: bool = False,
) -> LabelsRead:
    """Read labels from a table whose keys have the same type as the graph's keys.

    Args:
        keys: Keys of all nodes of the graph.
        types: Node types of the graph, the classified one first; empty if there is only one.
        several_labels: Whether a node may have several classes.
    """
    table = _named(table, label)
    raw = [str(name) for name in table.texts(label)]
    names = [name.strip() for name in raw]
    rows = rows_named(keys, table, key)
    is_classified = np.ones(rows.size, dtype=bool)
    if len(types) > 1:
        is_known = rows >= 0
        is_classified[is_known] = type_numbers(keys.array_at(rows[is_known]), types) == 0
    owners, by_class = dict[int, str](), dict[str, dict[int, None]]()
    kinds: dict[str, list[int]] = {
        name: [] for name in ("padded", "blank", "odd", "unknown", "typed", "other")
    }
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
        elif not is_classified[place]:
            kinds["typed"].append(place)
        elif owners.setdefault(row, name) != name and not several_labels:
            kinds["other"].append(place)
        else:
            by_class.setdefault(name, {})[row] = None
    labels = {name: key_array(keys.array_at(list(by_class[name]))) for name in sorted(by_class)}
    findings = _label_findings(table, key, label, kinds, raw)
    alike = [" and ".join(map(repr, group)) for group in likely_duplicates(labels)]
    findings += finding(ALIKE, len(alike), alike)
    return LabelsRead(KeyedLabels(labels), findings)


def _label_findings(
    table: SourceTable, key: str, label: str, kinds: Mapping[str, list[int]], names: list[str]
) -> list[Finding]:
    places = {kind: np.array(rows, dtype=np.int64) for kind, rows in kinds.items()}
    column = table.column(key)

    def about(kind: str, what: str, blocking: str, fatal: bool = False) -> list[Finding]:
        some, of_nodes = places[kind], kind in ("unknown", "typed", "other")
        values = (column[place].as_py() if of_nodes else repr(names[place][:40]) for place in some)
        examples, where = table.examples(some, values), table.where(key if of_nodes else label)
        return finding(what, some.size, examples, blocking, where=where, fatal=fatal)

    allowed = f"more than {MOST_CHARACTERS} characters, or control or invisible ones"
    return [
        *about("blank", "labels whose class name is only blanks", "dropped"),
        *about("padded", "labels whose class name begins or ends with a blank", "stripped"),
        *about("odd", f"labels whose class name has {allowed}", "choose another name", True),
        *about("unknown", "labels of nodes that are not in the table of nodes", "dropped"),
        *about("typed", "labels of nodes whose type is not classified", "dropped"),
        *about("other", "labels of nodes with another class", FIRST_KEPT),
    ]


def _named(table: SourceTable, label: str = LABEL) -> SourceTable:
    """Return a table of only those rows that have a class name."""
    return table.take(np.flatnonzero([name is not None for name in table.texts(label)]))


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
    # Recognise a Series by its attributes, because pandas is not a dependency.
    return all(hasattr(labels, name) for name in ("index", "to_numpy", "items")) and not hasattr(
        labels, "columns"
    )
