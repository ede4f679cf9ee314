"""Options that say how tables of nodes and edges are read."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from nodegraft.base.errors import ParameterError


class KeyTypes(StrEnum):
    """Types that node keys can have."""

    TEXT = "text"
    INTEGER = "integer"


TextColumns = Annotated[
    list[str] | None, typer.Option(help="A column of text, or a glob: 'text_*'.")
]
NumberColumns = Annotated[
    list[str] | None, typer.Option(help="A column of numbers, or a glob: 'e*'.")
]
NoFeatures = Annotated[
    bool, typer.Option("--no-features", help="Read no features: the edges say all there is.")
]
CategoryColumns = Annotated[
    list[str] | None, typer.Option(help="A column with few different values, or a glob.")
]
MinDocuments = Annotated[int, typer.Option(help="Leave out words that fewer texts than this have.")]
SourceColumn = Annotated[
    str,
    typer.Option("--source", "--source-key", help="Column with the key of an edge's source node."),
]
TargetColumn = Annotated[
    str,
    typer.Option("--target", "--target-key", help="Column with the key of an edge's target node."),
]
KeyTypeChoice = Annotated[
    KeyTypes | None,
    typer.Option(
        "--key-type",
        help="Type of all node keys; by default that of the tables: keys in CSV files are integers "
        "only if all are, without leading zeros.",
    ),
]
TypeColumn = Annotated[
    str | None, typer.Option("--type", help="The column that says of which kind an edge is.")
]
WeightColumn = Annotated[
    str | None, typer.Option("--weight", help="The column that says how much an edge counts.")
]
Directed = Annotated[bool, typer.Option(help="It matters which end is the source.")]
DirectedTypes = Annotated[
    str | None,
    typer.Option(help="Edge types for which it matters, with commas between: cites,needs."),
]
Delimiter = Annotated[
    str | None,
    typer.Option(help="What separates the columns of CSV files; by default the header tells."),
]


def key_type_of(chosen: KeyTypes | None) -> Any:
    """Return the Python argument that an option stands for.

    Args:
        chosen: The value of ``--key-type``.
    """
    return None if chosen is None else chosen.value


def number_columns(features: list[str] | None, no_features: bool) -> list[str] | None:
    """Return the Python argument that two options stand for.

    Args:
        features: The values of ``--features``.
        no_features: The value of ``--no-features``.
    """
    if features and no_features:
        raise ParameterError("Give --features or --no-features, not both.")
    return None if no_features else features or []


def directed_edges(directed: bool, types: str | None) -> bool | list[str]:
    """Return the Python argument that two options stand for.

    Args:
        directed: The value of ``--directed``.
        types: The value of ``--directed-types``.
    """
    if types is None:
        return directed
    if directed:
        raise ParameterError("Give --directed for all edges or --directed-types, not both.")
    return [name.strip() for name in types.split(",") if name.strip()]
