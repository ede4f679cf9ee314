"""Errors meant for the user, in the words of the command line."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from nodegraft.base.errors import CandidateWaitsError, NodegraftError
from nodegraft.base.extras import extra

_PYTHON_AND_FLAG = re.compile(r"[\w.]+=\S+ \((--[^)]+)\)")
"""A Python argument with the command-line flag behind it: ``repair=True (--repair)``."""


def with_flags(message: str) -> str:
    """Return a message that shows flags only, where it shows Python arguments and flags.

    >>> with_flags("Give a reason: override='…' (--override REASON).")
    'Give a reason: --override REASON.'

    Args:
        message: Message of an error.
    """
    return _PYTHON_AND_FLAG.sub(r"\1", message)


def user_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Show errors meant for the user as one message with exit code 2, not as a traceback.

    Args:
        command: A command.
    """

    @wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> None:
        try:
            with extra("lab", package="nodegraft.lab", purpose="This command"):
                command(*args, **kwargs)
        except NodegraftError as error:
            Console(stderr=True).print(
                f"[bold red]Error:[/] {escape(_message(error))}", highlight=False, soft_wrap=True
            )
            raise typer.Exit(2) from error

    return guarded


def _message(error: NodegraftError) -> str:
    if isinstance(error, CandidateWaitsError):
        return (
            f"{error.what_happened} Promote it with: nodegraft promote STORE, discard it with: "
            "nodegraft discard STORE, or omit --promote to add the change to it."
        )
    return with_flags(str(error))
