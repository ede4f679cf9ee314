"""The command that builds a graph on disk."""

from pathlib import Path
from typing import Annotated

import typer

from nodegraft.cli.errors import user_errors
from nodegraft.cli.store_options import Repair
from nodegraft.cli.table_options import (
    CategoryColumns,
    Delimiter,
    Directed,
    DirectedTypes,
    KeyTypeChoice,
    MinDocuments,
    NoFeatures,
    NumberColumns,
    SourceColumn,
    TargetColumn,
    TextColumns,
    TypeColumn,
    WeightColumn,
    directed_edges,
    key_type_of,
    number_columns,
)

MEGABYTE = 1_000_000


@user_errors
def build(
    nodes: Annotated[
        str, typer.Argument(help="The table of nodes: a file, URL, or folder or glob of .parquet.")
    ],
    edges: Annotated[
        str, typer.Argument(help="The table of edges: a file, URL, or folder or glob of .parquet.")
    ],
    out: Annotated[Path, typer.Option(help="A new folder for the graph.")],
    text: TextColumns = None,
    features: NumberColumns = None,
    no_features: NoFeatures = False,
    categories: CategoryColumns = None,
    min_documents: MinDocuments = 3,
    key: Annotated[str, typer.Option(help="The column of node keys.")] = "key",
    key_type: KeyTypeChoice = None,
    source: SourceColumn = "source",
    target: TargetColumn = "target",
    edge_type: TypeColumn = None,
    edge_weight: WeightColumn = None,
    directed: Directed = False,
    directed_types: DirectedTypes = None,
    delimiter: Delimiter = None,
    repair: Repair = False,
    memory: Annotated[
        int, typer.Option(min=1, metavar="MEGABYTES", help="Use about so much memory.")
    ] = 1000,
) -> None:
    """Build a graph on disk from tables that need not fit into memory; a cut build goes on."""
    from rich.console import Console

    from nodegraft.cli.display.store import Steps, report_table
    from nodegraft.tables.disk.build import build_graph

    console = Console()
    with Steps(console) as steps:
        steps.say("reading tables")
        built = build_graph(
            nodes,
            edges,
            out,
            key=key,
            key_type=key_type_of(key_type),
            source=source,
            target=target,
            edge_type=edge_type,
            edge_weight=edge_weight,
            directed=directed_edges(directed, directed_types),
            delimiter=delimiter,
            text=text or (),
            features=number_columns(features, no_features),
            categories=categories or (),
            min_documents=min_documents,
            repair=repair,
            memory=memory * MEGABYTE,
            listener=steps,
        )
    console.print(report_table(built.report))
    # Never wrapped: it is there to be copied.
    console.print(
        f'Open it in Python: graph = nodegraft.load_graph("{out}")',
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
