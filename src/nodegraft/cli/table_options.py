"""Options that say how tables of nodes and edges are read."""

from typing import Annotated

import typer

TextColumns = Annotated[list[str] | None, typer.Option(help="A column of text.")]
NumberColumns = Annotated[list[str] | None, typer.Option(help="A column of numbers.")]
CategoryColumns = Annotated[
    list[str] | None, typer.Option(help="A column with few different values.")
]
MinDocuments = Annotated[int, typer.Option(help="Leave out words that fewer texts than this have.")]
SourceColumn = Annotated[str, typer.Option(help="The column of an edge's one end.")]
TargetColumn = Annotated[str, typer.Option(help="The column of its other end.")]
TypeColumn = Annotated[
    str | None, typer.Option("--type", help="The column that says of which kind an edge is.")
]
WeightColumn = Annotated[
    str | None, typer.Option("--weight", help="The column that says how much an edge counts.")
]
Directed = Annotated[bool, typer.Option(help="It matters which end is the source.")]
