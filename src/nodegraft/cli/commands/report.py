"""The command that makes a page of all that is on record."""

from pathlib import Path
from typing import Annotated

import typer

from nodegraft.cli.errors import user_errors


@user_errors
def report(
    runs: Annotated[str, typer.Argument(help="Folder or URL of run records.")],
    out: Annotated[Path, typer.Option(help="Folder for the page, its tables and figures.")],
    suites: Annotated[Path, typer.Option(help="A folder of TOML suites, or one of them.")] = Path(
        "experiments"
    ),
) -> None:
    """One page about all that is on record: which method to use, tables, figures."""
    from rich.console import Console

    from nodegraft.base.files.folder import WriteOnceFolder
    from nodegraft.report.page.site import write_report  # Matplotlib is an extra of its own

    console = Console()
    WriteOnceFolder(out).check_writable()
    with console.status("making tables and drawing figures"):
        place = write_report(runs, suites, out)
    console.print(f"report: {place}", highlight=False, soft_wrap=True, markup=False)
