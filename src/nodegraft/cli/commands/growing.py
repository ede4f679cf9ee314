"""Commands for tables that change: more rows, or the whole of them as they are today."""

from typing import TYPE_CHECKING, Annotated

import typer

from nodegraft.cli.errors import user_errors
from nodegraft.cli.store_options import By, Note, Promote, Repair, StorePlace

if TYPE_CHECKING:
    from nodegraft.store.rows import Version
    from nodegraft.store.store import Store


@user_errors
def grow(
    place: StorePlace,
    nodes: Annotated[str | None, typer.Option(help="The table of new nodes.")] = None,
    edges: Annotated[str | None, typer.Option(help="The table of new edges.")] = None,
    repair: Repair = False,
    note: Note = "",
    by: By = None,
    promote: Promote = False,
) -> None:
    """Take in new nodes and edges; says how many old answers change by it."""
    from nodegraft.cli.display.versions import show_version
    from nodegraft.cli.table_config import columns_beside

    def make(store: "Store") -> "Version":
        tables = columns_beside(nodes, edges)
        return store.grow(
            nodes, edges, repair=repair, tables=tables, by=by, note=note, promote=promote
        )

    show_version(place, make)


@user_errors
def sync(
    place: StorePlace,
    nodes: Annotated[str, typer.Option(help="The table of all nodes as they are now.")],
    edges: Annotated[str | None, typer.Option(help="The table of all edges now.")] = None,
    repair: Repair = False,
    note: Note = "",
    by: By = None,
    promote: Promote = False,
) -> None:
    """Take today's whole tables: nodes that are new come, those that are gone go."""
    from nodegraft.cli.display.versions import show_version
    from nodegraft.cli.table_config import columns_beside

    def make(store: "Store") -> "Version":
        tables = columns_beside(nodes, edges)
        return store.sync(
            nodes, edges, repair=repair, tables=tables, by=by, note=note, promote=promote
        )

    show_version(place, make)
