"""Errors meant for the user, as the user should see them."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from nodegraft.base.errors import CandidateWaitsError, NodegraftError


def _sentences(error: NodegraftError) -> str:
    if isinstance(error, CandidateWaitsError):
        return (
            f"{error.what_happened} Promote it with: nodegraft promote STORE, discard it with: "
            "nodegraft discard STORE, or leave out --promote to add the change to it."
        )
    return str(error)


def user_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Errors meant for the user are one message and exit code 2, not a traceback.

    Args:
        command: A command.
    """

    @wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except NodegraftError as error:
            Console(stderr=True).print(
                f"[bold red]Error:[/] {escape(_sentences(error))}", highlight=False, soft_wrap=True
            )
            raise typer.Exit(2) from error

    return guarded
