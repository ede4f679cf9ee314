"""Commands of the panel Data for graphs larger than memory: build and propagate."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodegraft.base.counting import counted
from nodegraft.base.errors import NodegraftError, ParameterError
from nodegraft.cli.errors import user_errors
from nodegraft.cli.inputs import directed_edges, number_columns
from nodegraft.cli.options import (
    CategoryColumns,
    Delimiter,
    Directed,
    DirectedTypes,
    KeyColumn,
    KeyType,
    MinDocuments,
    NoFeatures,
    NumberColumns,
    RayAddress,
    Repair,
    SourceColumn,
    TargetColumn,
    TextColumns,
    TypeColumn,
    WeightColumn,
    Workers,
)

if TYPE_CHECKING:
    from nodegraft.graph.disk.blocks.layer_work import BlockExecutor

MEGABYTE = 1_000_000


@user_errors
def build(
    nodes: Annotated[
        str, typer.Argument(help="Table of nodes: a file, URL, or folder or glob of .parquet.")
    ],
    edges: Annotated[
        str, typer.Argument(help="Table of edges: a file, URL, or folder or glob of .parquet.")
    ],
    out: Annotated[Path, typer.Option(help="New folder for the graph.")],
    text: TextColumns = None,
    features: NumberColumns = None,
    no_features: NoFeatures = False,
    categories: CategoryColumns = None,
    min_documents: MinDocuments = 3,
    key: KeyColumn = "key",
    key_type: KeyType = None,
    source: SourceColumn = "source",
    target: TargetColumn = "target",
    edge_type: TypeColumn = None,
    edge_weight: WeightColumn = None,
    directed: Directed = False,
    directed_types: DirectedTypes = None,
    delimiter: Delimiter = None,
    repair: Repair = False,
    memory: Annotated[
        int, typer.Option(min=1, metavar="MEGABYTES", help="Approximate memory limit.")
    ] = 1000,
) -> None:
    """Build a graph on disk from tables of any size; run it again to resume."""
    from rich.console import Console

    from nodegraft.cli.progress import StatusLine
    from nodegraft.cli.render.store import report_table
    from nodegraft.tables.disk.build import build_graph

    console = Console()
    with StatusLine(console, "reading tables") as status:
        built = build_graph(
            nodes,
            edges,
            out,
            key=key,
            key_type=None if key_type is None else key_type.value,
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
            listener=status,
        )
    console.print(report_table(built.report))
    # Not wrapped, so that it can be copied.
    console.print(
        f'Open it in Python: graph = nodegraft.load_graph("{out}")',
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


@user_errors
def propagate(
    graph: Annotated[Path, typer.Argument(help="Graph folder written by `nodegraft build`.")],
    hops: Annotated[int, typer.Option(min=1, help="Number of propagation steps.")] = 2,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Embed all nodes with the encoder of this saved model, which sets --hops.",
        ),
    ] = None,
    workers: Workers = 1,
    ray: RayAddress = None,
) -> None:
    """Propagate features along edges, on disk; run it again to resume."""
    from rich.console import Console

    from nodegraft.cli.progress import StatusLine
    from nodegraft.graph.disk.blocks import propagate as blocks
    from nodegraft.methods.templates.in_blocks import encode_for
    from nodegraft.model.registry import load_model
    from nodegraft.tables.storage import load_graph

    loaded, console = load_graph(graph), Console()
    if loaded.kept_layers() is None:
        raise ParameterError(
            f"The graph in {graph} is held in memory, where features are propagated on demand. "
            "This command needs a graph folder written by `nodegraft build`."
        )
    try:
        with StatusLine(console, "preparing") as status, _executor(ray, workers) as executor:
            if model is None:
                layers = blocks.propagate(loaded, hops, executor, listener=status)
                computed, place = layers.computed, layers.folder.place
            else:
                embedding = encode_for(load_model(model), loaded, executor, listener=status)
                computed, place = embedding.computed, embedding.place
    except KeyboardInterrupt:
        raise NodegraftError("Stopped. Run the same command again to resume.") from None
    console.print(f"{counted(computed, 'block')} computed", highlight=False)
    console.print(f"layers: {place}", highlight=False, soft_wrap=True, markup=False)


def _executor(ray: str | None, workers: int) -> "AbstractContextManager[BlockExecutor | None]":
    if ray is not None:
        from nodegraft.runners.ray_blocks import RayBlocks  # Ray is an extra

        return RayBlocks(ray, cpus=workers)
    if workers == 1:
        return nullcontext()
    from nodegraft.runners.block_processes import BlockProcesses

    return BlockProcesses(workers)


COMMANDS = {"build": build, "propagate": propagate}
