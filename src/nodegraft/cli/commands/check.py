"""The command that holds a method against the contract."""

from typing import Annotated

import typer

from nodegraft.cli.errors import user_errors


@user_errors
def check(
    method: Annotated[str, typer.Argument(help="See: nodegraft lab methods.")],
) -> None:
    """Check that a method does what every method must, and sees nothing it should not."""
    from rich.console import Console

    from nodegraft.evaluation.checks import check_no_leaks
    from nodegraft.model.checks import CONTRACT
    from nodegraft.model.contract.case import Case
    from nodegraft.model.registry import REGISTRY

    console, case = Console(), Case(REGISTRY.get(method))
    for one in CONTRACT:
        with console.status(one.__name__):
            one(case)
        console.print(f"[green]ok[/]  {one.__name__.removeprefix('check_').replace('_', ' ')}")
    with console.status("looking for leaks"):
        proved = check_no_leaks(method)
    for name in proved:
        console.print(f"[green]ok[/]  {name}")
