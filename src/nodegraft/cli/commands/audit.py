"""Command that lists labels which are probably wrong."""

import json
from typing import Annotated

import typer
from rich.console import Console

from nodegraft.cli.changes import open_store
from nodegraft.cli.options import NewestVersion, StorePlace
from nodegraft.cli.output import command
from nodegraft.cli.progress import StatusLine
from nodegraft.cli.render.audit import audit_table


@command
def audit(
    place: StorePlace,
    count: Annotated[int, typer.Option(help="Largest number of labels.")] = 20,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, as the HTTP service sends it.")
    ] = False,
    version: NewestVersion = None,
) -> None:
    """List labels that are probably wrong, with a reason and a suggested class."""
    console = Console()
    with StatusLine(console) as status, open_store(place, status) as store:
        number = store.candidate if version is None else version
        found = store.audit_labels(count, number)
        texts = store.texts([one.node for one in found], number)
    if as_json:
        content = {"model_version": number, "labels": [vars(one) for one in found]}
        console.out(json.dumps(content, indent=2, ensure_ascii=False), highlight=False)
        return
    *table, command_line = audit_table(found, texts, place)
    console.print(*table, sep="\n")
    # The command is not wrapped, so that it can be copied.
    console.print(command_line, soft_wrap=True)


COMMANDS = {"audit": audit}
