"""Commands for tables that change: more rows, or the whole of them as they are today."""

from typing import TYPE_CHECKING, Annotated

import typer

from nodegraft.base.errors import ParameterError
from nodegraft.cli.errors import user_errors
from nodegraft.cli.store_options import By, DryRun, Note, Promote, Repair, StorePlace

if TYPE_CHECKING:
    from nodegraft.store.rows import Version
    from nodegraft.store.store import Store


@user_errors
def grow(
    place: StorePlace,
    nodes: Annotated[str | None, typer.Option(help="The table of new nodes.")] = None,
    edges: Annotated[str | None, typer.Option(help="The table of new edges.")] = None,
    repair: Repair = False,
    dry_run: DryRun = False,
    note: Note = "",
    by: By = None,
    promote: Promote = False,
) -> None:
    """Add new nodes and edges, and report how many predictions for old nodes change."""
    from nodegraft.cli.display.table_preview import show_table_preview
    from nodegraft.cli.display.versions import show_version
    from nodegraft.cli.table_config import columns_beside

    tables = columns_beside(place, nodes, edges)
    if dry_run:
        show_table_preview(
            place, lambda store: store.preview_grow(nodes, edges, repair=repair, tables=tables)
        )
        return

    def make(store: "Store") -> "Version":
        return store.grow(
            nodes, edges, repair=repair, tables=tables, by=by, note=note, promote=promote
        )

    show_version(place, make)


@user_errors
def sync(
    place: StorePlace,
    nodes: Annotated[str, typer.Option(help="The table of all nodes as they are now.")],
    edges: Annotated[
        str | None,
        typer.Option(
            help="The table of all edges as they are now; without it, edges between nodes that "
            "stay are kept."
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
    """Replace all nodes and edges by today's tables: new ones are added, missing ones removed."""
    from nodegraft.cli.display.table_preview import show_table_preview
    from nodegraft.cli.display.versions import show_version
    from nodegraft.cli.table_config import columns_beside

    if no_edges and edges is not None:
        raise ParameterError("Give --edges or --no-edges, not both.")
    joined = False if no_edges else edges
    tables = columns_beside(place, nodes, edges)
    if dry_run:
        show_table_preview(
            place, lambda store: store.preview_sync(nodes, joined, repair=repair, tables=tables)
        )
        return

    def make(store: "Store") -> "Version":
        return store.sync(
            nodes,
            joined,
            repair=repair,
            tables=tables,
            by=by,
            note=note,
            override=override,
            promote=promote,
        )

    show_version(place, make)
