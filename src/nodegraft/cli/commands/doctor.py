"""The command that checks the installation, this machine, and a store."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from nodegraft.cli.output import Output, command
from nodegraft.cli.results.maintenance import Check, Diagnosis
from nodegraft.cli.terminal import Terminal, line

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
    lines = (part for check in checks for part in _lines(check))
    return Output(value, tuple(lines), exit_code=int(worst == "error"))


def _lines(check: Check) -> Iterator[Text]:
    status = (f"{check.status:<8}", STYLES[check.status])
    yield Text.assemble(status, f"{check.name}: {check.message}")
    if check.what_to_do:
        yield line(f"        To do: {check.what_to_do}")


COMMANDS = {"doctor": doctor}
