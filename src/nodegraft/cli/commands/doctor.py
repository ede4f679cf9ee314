"""The command that checks the installation, this machine, and a store."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from nodegraft.cli.output import Output, command
from nodegraft.cli.results.maintenance import Check, Diagnosis
from nodegraft.cli.terminal import Terminal

STYLES = {"ok": "green", "warning": "yellow", "error": "bold red"}


@command
def doctor(
    terminal: Terminal,
    place: Annotated[
        Path | None, typer.Argument(metavar="[STORE]", help="Folder of a store to check, too.")
    ] = None,
) -> Output[Diagnosis]:
    """Check versions, extras, torch, disk and memory, and a store; exit code 1 for an error."""
    from nodegraft.cli.diagnosis import installation, machine, store_checks

    terminal.stage("checking packages")
    checks = [*installation(), *machine(place)]
    if place is not None:
        terminal.stage(f"checking {place}")
        checks += store_checks(place)
    statuses = [check.status for check in checks]
    worst = max(statuses, key=list(STYLES).index)
    value = Diagnosis(worst, checks)
    return Output(value, tuple(map(_line, checks)), exit_code=int(worst == "error"))


def _line(check: Check) -> Text:
    advice = f". To do: {check.what_to_do}" if check.what_to_do else ""
    status = (f"{check.status:<8}", STYLES[check.status])
    return Text.assemble(status, f"{check.name}: {check.message}{advice}")


COMMANDS = {"doctor": doctor}
