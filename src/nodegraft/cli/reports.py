"""Commands about what was measured: a report of many runs, a map of what two methods see."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from nodegraft.base.errors import NodegraftError
from nodegraft.cli.guard import says_what_is_wrong


@says_what_is_wrong
def report(
    runs: Annotated[Path, typer.Argument(help="Folder of run records.")],
    out: Annotated[Path, typer.Option(help="Folder for the page, its tables and figures.")],
    suites: Annotated[Path, typer.Option(help="A folder of TOML suites, or one of them.")] = Path(
        "experiments"
    ),
) -> None:
    """One page about all that is on record: which method to use, tables, figures."""
    try:
        # Matplotlib is an extra of its own.
        from nodegraft.report.site import write_report
    except ModuleNotFoundError as error:
        raise NodegraftError(str(error)) from error
    place = write_report(runs, suites, out)
    Console().print(f"report: {place}", highlight=False, soft_wrap=True)
