"""Command that lists labels which are probably wrong."""

from typing import Annotated

import typer

from nodegraft.analysis.results.nodes import LabelAudit
from nodegraft.cli.changes import open_store
from nodegraft.cli.options import NewestVersion, StorePlace
from nodegraft.cli.output import Output, command
from nodegraft.cli.render.inspect import audit_table
from nodegraft.cli.terminal import Terminal


@command
def audit(
    place: StorePlace,
    terminal: Terminal,
    count: Annotated[int, typer.Option(help="Largest number of labels.")] = 20,
    version: NewestVersion = None,
) -> Output[LabelAudit]:
    """List labels that are probably wrong, with a reason and a suggested class."""
    with open_store(place, terminal) as store:
        number = store.newest if version is None else version
        terminal.stage("scoring every label without itself")
        doubts = store.audit_labels(count, number)
        texts = store.texts([suspicious.node for suspicious in doubts], number)
        fields = store.version(number).fields
    return Output(LabelAudit(**fields, labels=doubts), tuple(audit_table(doubts, texts, place)))


COMMANDS = {"audit": audit}
