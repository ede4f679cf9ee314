"""Commands of the panel Data that update a store from tables: grow and sync."""

from typing import TYPE_CHECKING, Annotated

import typer

from nodegraft.base.errors import ParameterError
from nodegraft.cli.errors import user_errors
from nodegraft.cli.options import (
    By,
    DryRun,
    EdgeTable,
    NodeTable,
    Note,
    Promote,
    Repair,
    StorePlace,
)

if TYPE_CHECKING:
    from nodegraft.analysis.version import Version
    from nodegraft.store.store import Store


@user_errors
def grow(
    place: StorePlace,
    nodes: NodeTable = None,
    edges: EdgeTable = None,
    repair: Repair = False,
    dry_run: DryRun = False,
    note: Note = "",
    by: By = None,
    promote: Promote = False,
) -> None:
    """Add new nodes and edges, and report how many predictions for old nodes change."""
    from nodegraft.cli.changes import make_version, preview_tables
    from nodegraft.cli.table_config import columns_beside
    from nodegraft.store.intent import Intent

    tables = columns_beside(place, nodes, edges)
    if dry_run:
        preview_tables(
            place, lambda store: store.preview_grow(nodes, edges, repair=repair, tables=tables)
        )
        return

    intent = Intent(author=by, note=note, promote=promote)

    def make(store: "Store") -> "Version":
        return store.grow(nodes, edges, repair=repair, tables=tables, intent=intent)

    make_version(place, make)


@user_errors
def sync(
    place: StorePlace,
    nodes: Annotated[str, typer.Option(help="Table of all current nodes.")],
    edges: Annotated[
        str | None,
        typer.Option(
            help="Table of all current edges; without it, edges between remaining nodes stay."
        ),
    ] = None,
    no_edges: Annotated[bool, typer.Option("--no-edges", help="Remove all edges.")] = False,
    repair: Repair = False,
    dry_run: DryRun = False,
    note: Note = "",
    by: By = None,
    override: Annotated[
        str,
        typer.Option(
            metavar="REASON",
            help="Remove more nodes, edges or labels than the setting max_removed_share allows.",
        ),
    ] = "",
    promote: Promote = False,
) -> None:
    """Replace all nodes and edges by current tables: add new ones, remove missing ones."""
    from nodegraft.cli.changes import make_version, preview_tables
    from nodegraft.cli.table_config import columns_beside
    from nodegraft.store.intent import Intent

    if no_edges and edges is not None:
        raise ParameterError("Give --edges or --no-edges, not both.")
    new_edges = False if no_edges else edges
    tables = columns_beside(place, nodes, edges)
    if dry_run:
        preview_tables(
            place, lambda store: store.preview_sync(nodes, new_edges, repair=repair, tables=tables)
        )
        return

    intent = Intent(author=by, note=note, override=override, promote=promote)

    def make(store: "Store") -> "Version":
        return store.sync(nodes, new_edges, repair=repair, tables=tables, intent=intent)

    make_version(place, make)


COMMANDS = {"grow": grow, "sync": sync}
