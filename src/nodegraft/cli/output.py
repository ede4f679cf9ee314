"""What every command shares: options as values, errors as one message, and lines of output."""

import inspect
import re
from collections.abc import Callable
from dataclasses import is_dataclass
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


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command: each parameter whose type is a dataclass of options becomes its options.

    Errors meant for the user are shown as one message with exit code 2, not as a traceback.

    Args:
        function: Function whose parameters are arguments, options, and dataclasses of options.
    """
    own = inspect.signature(function).parameters
    types: dict[str, Any] = {name: parameter.annotation for name, parameter in own.items()}
    groups = {
        name: (group, inspect.signature(group).parameters)
        for name, group in types.items()
        if is_dataclass(types[name])
    }
    parameters = [parameter for name, parameter in own.items() if name not in groups]
    parameters += [option for _, options in groups.values() for option in options.values()]

    def run(**values: Any) -> None:
        try:
            for name, (group, options) in groups.items():
                values[name] = group(**{option: values.pop(option) for option in options})
            with extra("lab", package="nodegraft.lab", purpose="This command"):
                function(**values)
        except NodegraftError as error:
            Console(stderr=True).print(
                f"[bold red]Error:[/] {escape(_message(error))}", highlight=False, soft_wrap=True
            )
            raise typer.Exit(2) from error

    run.__name__, run.__doc__, run.__module__ = (
        function.__name__,
        function.__doc__,
        function.__module__,
    )
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def print_line(text: str, console: Console | None = None, style: str = "") -> None:
    """Print plain text without line breaks, so that commands and paths can be copied.

    Args:
        text: The text.
        console: Console to print on; None for standard output.
        style: Style of the text.
    """
    console = console or Console()
    console.print(text, highlight=False, markup=False, soft_wrap=True, style=style)


def _message(error: NodegraftError) -> str:
    if isinstance(error, CandidateWaitsError):
        return (
            f"{error.what_happened} Promote it with: nodegraft promote STORE, discard it with: "
            "nodegraft discard STORE, or omit --promote to add the change to it."
        )
    return with_flags(str(error))
