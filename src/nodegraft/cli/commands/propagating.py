"""The command that spreads the features of a graph on disk, in blocks."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodegraft.base.counting import counted
from nodegraft.base.errors import NodegraftError, ParameterError
from nodegraft.cli.errors import user_errors

if TYPE_CHECKING:
    from nodegraft.graph.blocks.executor import BlockExecutor


@user_errors
def propagate(
    graph: Annotated[Path, typer.Argument(help="A folder that `nodegraft build` wrote.")],
    hops: Annotated[int, typer.Option(min=1, help="How many steps along edges.")] = 2,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="A saved model whose encoder embeds all nodes instead; --hops is its own.",
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="How many processes compute.")] = 1,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Compute on this Ray cluster instead; 'local' starts one of --workers CPUs here.",
        ),
    ] = None,
) -> None:
    """Spread the features over the graph and keep the result on disk; stop and start it at will."""
    from rich.console import Console

    from nodegraft.cli.display.store import Steps
    from nodegraft.graph.blocks import propagate as blocks
    from nodegraft.methods.templates.in_blocks import encode_for
    from nodegraft.model.registry import load_model
    from nodegraft.tables.storage import load_graph

    loaded, console = load_graph(graph), Console()
    if loaded.kept_layers() is None:
        raise ParameterError(
            f"The graph in {graph} is read into memory, where features are spread when they are "
            "asked for. Layers are kept beside graphs that `nodegraft build` wrote."
        )
    try:
        with Steps(console) as steps, _executor(ray, workers) as executor:
            steps.say("preparing")
            if model is None:
                spread = blocks.propagate(loaded, hops, executor, listener=steps)
                computed, place = spread.computed, spread.folder.place
            else:
                embedded = encode_for(load_model(model), loaded, executor, listener=steps)
                computed, place = embedded.computed, embedded.place
    except KeyboardInterrupt:
        raise NodegraftError("Stopped. The same command goes on from here.") from None
    fetched = sum(block.fetched for block in computed)
    travelled = f", {fetched / 1e6:,.0f} MB fetched from other parts" if ray is not None else ""
    blocks_made = counted(len(computed), "block")
    console.print(f"{blocks_made} computed{travelled}", highlight=False)
    console.print(f"layers: {place}", highlight=False, soft_wrap=True, markup=False)


def _executor(ray: str | None, workers: int) -> "AbstractContextManager[BlockExecutor | None]":
    if ray is not None:
        from nodegraft.runners.ray_blocks import RayBlocks  # Ray is an extra

        return RayBlocks(ray, cpus=workers)
    if workers == 1:
        return nullcontext()
    from nodegraft.runners.block_processes import BlockProcesses

    return BlockProcesses(workers)
