"""Commands of the panel Data for graphs larger than memory: build and propagate."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from nodegraft.base.counting import counted
from nodegraft.base.errors import NodegraftError, ParameterError
from nodegraft.cli.options import RayAddress, Repair, TableOptions, Workers, table_arguments
from nodegraft.cli.output import command, print_line
from nodegraft.cli.progress import StatusLine
from nodegraft.cli.render.store import report_table

if TYPE_CHECKING:
    from nodegraft.graph.disk.blocks.layer_work import BlockExecutor

MEGABYTE = 1_000_000


@command
def build(
    nodes: Annotated[
        str, typer.Argument(help="Table of nodes: a file, URL, or folder or glob of .parquet.")
    ],
    edges: Annotated[
        str, typer.Argument(help="Table of edges: a file, URL, or folder or glob of .parquet.")
    ],
    out: Annotated[Path, typer.Option(help="New folder for the graph.")],
    tables: TableOptions,
    repair: Repair = False,
    memory: Annotated[
        int, typer.Option(min=1, metavar="MEGABYTES", help="Approximate memory limit.")
    ] = 1000,
) -> None:
    """Build a graph on disk from tables of any size; run it again to resume."""
    from nodegraft.tables.disk.build import build_graph

    console = Console()
    with StatusLine(console, "reading tables") as status:
        built = build_graph(
            nodes,
            edges,
            out,
            **table_arguments(vars(tables)),
            repair=repair,
            memory=memory * MEGABYTE,
            listener=status,
        )
    console.print(report_table(built.report))
    print_line(f'Open it in Python: graph = nodegraft.load_graph("{out}")')


@command
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
    print_line(f"{counted(computed, 'block')} computed")
    print_line(f"layers: {place}")


def _executor(ray: str | None, workers: int) -> "AbstractContextManager[BlockExecutor | None]":
    if ray is not None:
        from nodegraft.runners.ray_connection import RayBlocks  # Ray is an extra

        return RayBlocks(ray, cpus=workers)
    if workers == 1:
        return nullcontext()
    from nodegraft.runners.block_processes import BlockProcesses

    return BlockProcesses(workers)


COMMANDS = {"build": build, "propagate": propagate}
