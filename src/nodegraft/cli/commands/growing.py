"""Commands for tables that change: more rows, or the whole of them as they are today."""

from pathlib import Path
from typing import Annotated

import typer

from nodegraft.cli.errors import user_errors
from nodegraft.cli.store_options import By, Note, StorePlace

Repair = Annotated[bool, typer.Option(help="Leave out what does not fit instead of refusing it.")]


@user_errors
def grow(
    place: StorePlace,
    nodes: Annotated[Path | None, typer.Option(help="The table of new nodes.")] = None,
    edges: Annotated[Path | None, typer.Option(help="The table of new edges.")] = None,
    repair: Repair = False,
    note: Note = "",
    by: By = None,
) -> None:
    """Take in new nodes and edges; says how many old answers change by it."""
    from rich.console import Console

    from nodegraft.cli.display.versions import version_line
    from nodegraft.store.store import Store

    with Store.open(place) as store:
        version = store.grow(nodes, edges, repair=repair, by=by, note=note)
        Console().print(version_line(version, store.champion))


@user_errors
def sync(
    place: StorePlace,
    nodes: Annotated[Path, typer.Option(help="The table of all nodes as they are now.")],
    edges: Annotated[Path | None, typer.Option(help="The table of all edges now.")] = None,
    repair: Repair = False,
    note: Note = "",
    by: By = None,
) -> None:
    """Take today's whole tables: nodes that are new come, those that are gone go."""
    from rich.console import Console

    from nodegraft.cli.display.versions import version_line
    from nodegraft.store.store import Store

    with Store.open(place) as store:
        version = store.sync(nodes, edges, repair=repair, by=by, note=note)
        Console().print(version_line(version, store.champion))
