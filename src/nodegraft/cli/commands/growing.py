"""Commands for tables that change: more rows, or the whole of them as they are today."""

from pathlib import Path
from typing import Annotated

import typer

from nodegraft.cli.errors import user_errors
from nodegraft.cli.store_options import By, Note, Promote, Repair, StorePlace


@user_errors
def grow(
    place: StorePlace,
    nodes: Annotated[Path | None, typer.Option(help="The table of new nodes.")] = None,
    edges: Annotated[Path | None, typer.Option(help="The table of new edges.")] = None,
    repair: Repair = False,
    note: Note = "",
    by: By = None,
    promote: Promote = False,
) -> None:
    """Take in new nodes and edges; says how many old answers change by it."""
    from nodegraft.cli.display.versions import show_version

    told = {"repair": repair, "by": by, "note": note, "promote": promote}
    show_version(place, lambda store: store.grow(nodes, edges, **told))


@user_errors
def sync(
    place: StorePlace,
    nodes: Annotated[Path, typer.Option(help="The table of all nodes as they are now.")],
    edges: Annotated[Path | None, typer.Option(help="The table of all edges now.")] = None,
    repair: Repair = False,
    note: Note = "",
    by: By = None,
    promote: Promote = False,
) -> None:
    """Take today's whole tables: nodes that are new come, those that are gone go."""
    from nodegraft.cli.display.versions import show_version

    told = {"repair": repair, "by": by, "note": note, "promote": promote}
    show_version(place, lambda store: store.sync(nodes, edges, **told))
