"""Check node and edge tables that are given by type."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from nodegraft.base.errors import ParameterError
from nodegraft.graph.node_types import SEPARATOR, check_node_types
from nodegraft.tables.columns import Source

EdgeType: TypeAlias = tuple[str, str, str]
"""Type of the source node, name, and type of the target node."""


def is_typed(source: Source) -> bool:
    """Return whether a source is a mapping from type to table, and not one table in memory.

    >>> is_typed({"product": "products.csv"}), is_typed({"key": ["p1"]}), is_typed("products.csv")
    (True, False, False)
    """
    return isinstance(source, Mapping) and all(
        isinstance(table, str | Path | Mapping) or hasattr(table, "columns")
        for table in source.values()
    )


def node_types_of(nodes: Source, edges: Source) -> tuple[str, ...]:
    """Return the node types that tables name, the classified one first; empty if there are none."""
    if not is_typed(nodes):
        if edges is not None and is_typed(edges):
            raise ParameterError(
                "Edge tables by type need node tables by type: nodes={'product': …} "
                "(--nodes product=FILE)."
            )
        return ()
    named = [end for edge in edge_tables(edges) for end in (edge[0], edge[2])]
    return check_node_types(tuple(dict.fromkeys((*nodes, *named))))


def same_node_types(known: tuple[str, ...], given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the node types of a recipe; raise an error if tables have others.

    Args:
        known: Node types of the recipe; empty if there is only one.
        given: Node types of the tables; types that occur only in edges may be missing.
    """
    if bool(known) != bool(given) or given[:1] != known[:1] or not set(given) <= set(known):
        raise ParameterError(
            f"The features were made from {_of_types(known)}, and these are {_of_types(given)}: "
            "give the same node types, the classified one first."
        )
    return known


def _of_types(types: tuple[str, ...]) -> str:
    return f"tables of the node types {', '.join(types)}" if types else "one table of nodes"


def edge_tables(edges: Source) -> dict[EdgeType, Source]:
    """Return edge tables by edge type; raise an error if they are not given by type.

    >>> edge_tables({"user:bought:product": "bought.csv"})
    {('user', 'bought', 'product'): 'bought.csv'}

    Args:
        edges: Edge tables by type; the type is a tuple of three names, or a text that joins them by
            colons. None for no edges.
    """
    if edges is None:
        return {}
    if not is_typed(edges):
        raise ParameterError(
            "With several node types, give each edge table with its type: edges={('user', "
            "'bought', 'product'): …} (--edges user:bought:product=FILE)."
        )
    tables = dict[EdgeType, Source]()
    for given, table in edges.items():
        ends: Any = tuple(given.split(SEPARATOR)) if isinstance(given, str) else given
        is_type = isinstance(ends, tuple) and len(ends) == 3
        if not is_type or not all(part and SEPARATOR not in str(part) for part in ends):
            raise ParameterError(
                f"{given!r} is no edge type: give the node type of the source, a name without ':' "
                "and the node type of the target, as in 'user:bought:product'."
            )
        if ends in tables:
            raise ParameterError(
                "An edge type is given twice, as a tuple and as text: give it once, with all its "
                "edges."
            )
        tables[ends] = table
    return tables
