"""Commands that keep a store small, and that forget for good."""

from typing import Annotated

import typer

from nodegraft.base.counting import counted
from nodegraft.cli.errors import user_errors
from nodegraft.cli.store_options import By, DryRun, Note, StorePlace


@user_errors
def prune(
    place: StorePlace,
    keep: Annotated[
        int, typer.Option(help="So many of the newest stay, and of those that answered before.")
    ] = 10,
    dry_run: DryRun = False,
    note: Note = "",
    by: By = None,
) -> None:
    """Free what old versions take on the disk; history goes on listing them."""
    from rich.console import Console

    from nodegraft.cli.display.keeping import pruned_line
    from nodegraft.store.store import Store

    with Store.open(place) as store:
        found = store.prune(keep, dry_run=dry_run, by=by, note=note)
    Console().print(pruned_line(found, dry_run))


@user_errors
def verify(place: StorePlace, by: By = None) -> None:
    """Compare every file of a store with its checksum; exit code 1 if one is damaged."""
    from rich.console import Console

    from nodegraft.cli.display.keeping import verification_lines
    from nodegraft.cli.display.store import Steps
    from nodegraft.store.store import Store

    console = Console()
    with Steps(console) as steps:
        found = Store.verify(place, by=by, listener=steps)
    console.print(verification_lines(found), highlight=False, soft_wrap=True)
    if not found.is_clean:
        raise typer.Exit(1)


@user_errors
def purge(
    place: StorePlace,
    nodes: Annotated[list[str], typer.Argument(metavar="NODE", help="Keys of nodes.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    note: Note = "",
    by: By = None,
) -> None:
    """Forget nodes for good: in all versions, and in what is listed of them."""
    from rich.console import Console

    from nodegraft.cli.display.keeping import purged_lines
    from nodegraft.cli.display.store import Steps
    from nodegraft.graph.keys import integer_key
    from nodegraft.store.store import Store

    console = Console()
    with Store.open(place) as store:
        text = store.graph().has_text_keys
        keys = [node if text else integer_key(node) for node in nodes]
        if not yes:
            asked = counted(len(keys), "node")
            typer.confirm(
                f"{asked} will be forgotten, and all versions before with them. This cannot be "
                "undone. Go on?",
                abort=True,
            )
        with Steps(console) as steps:
            done = store.purge(keys, by=by, note=note, listener=steps)
    console.print(purged_lines(done))
