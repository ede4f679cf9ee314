"""Commands of the help panel Data for graphs larger than memory: build and propagate."""

import shlex
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodegraft.base.counting import counted
from nodegraft.base.errors import NodegraftError, ParameterError
from nodegraft.cli.options import RayAddress, Repair, TableOptions, Workers, table_arguments
from nodegraft.cli.output import Output, command
from nodegraft.cli.render.versions import report_fields, report_table
from nodegraft.cli.results.store import BuiltGraph, Layers
from nodegraft.cli.terminal import Terminal, line

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
    terminal: Terminal,
    repair: Repair = False,
    memory: Annotated[
        int, typer.Option(min=1, metavar="MEGABYTES", help="Approximate memory limit.")
    ] = 1000,
) -> Output[BuiltGraph]:
    """Build a graph on disk from tables of any size; run it again to resume."""
    from nodegraft.tables.disk.build import build_graph

    terminal.stage("reading tables")
    built = build_graph(
        nodes,
        edges,
        out,
        **table_arguments(vars(tables)),
        repair=repair,
        memory=memory * MEGABYTE,
        listener=terminal,
    )
    hints = (
        f'Open it in Python: graph = nodegraft.load_graph("{out}")',
        f"Create a store: nodegraft init STORE --graph {shlex.quote(str(out))} --labels TABLE",
    )
    value = BuiltGraph(graph=str(out), **report_fields(built.report))
    return Output(value, (report_table(built.report),), hints)


@command
def propagate(
    graph: Annotated[Path, typer.Argument(help="Graph folder written by `nodegraft build`.")],
    terminal: Terminal,
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
) -> Output[Layers]:
    """Propagate features along edges, on disk; run it again to resume."""
    from nodegraft.graph.disk.blocks import encode as blocks
    from nodegraft.methods.templates.pretrained import encode_for
    from nodegraft.model.registry import load_model
    from nodegraft.tables.storage import load_graph

    loaded = load_graph(graph)
    if loaded.layer_folder() is None:
        raise ParameterError(
            f"The graph in {graph} is held in memory, where features are propagated on demand. "
            "This command needs a graph folder written by `nodegraft build`."
        )
    try:
        with _executor(ray, workers) as executor:
            if model is None:
                layers = blocks.propagate(loaded, hops, executor, listener=terminal)
                computed, place = layers.computed, layers.folder.place
            else:
                embedding = encode_for(load_model(model), loaded, executor, listener=terminal)
                computed, place = embedding.computed, embedding.place
    except KeyboardInterrupt:
        raise NodegraftError("Stopped. Run the same command again to resume.") from None
    text = f"{counted(computed, 'block')} computed\nlayers: {place}"
    return Output(Layers(str(place), computed), (line(text),))


def _executor(ray: str | None, workers: int) -> "AbstractContextManager[BlockExecutor | None]":
    if ray is not None:
        from nodegraft.runners.ray_connection import RayBlocks  # Ray is an optional extra.

        return RayBlocks(ray, cpus=workers)
    if workers == 1:
        return nullcontext()
    from nodegraft.runners.block_processes import BlockProcesses

    return BlockProcesses(workers)


COMMANDS = {"build": build, "propagate": propagate}
