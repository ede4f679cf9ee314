"""Entry point of the ``nodegraft`` command; names the extra to install where it is missing."""

import os
import sys
from typing import NoReturn


def main() -> None:
    """Run the command line."""
    try:
        from rich.console import Console

        from nodegraft.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit("The nodegraft command needs an extra: pip install 'nodegraft[cli]'")
    # By default, Rich ends the command with an error if a pipe is closed (`| head`).
    Console.on_broken_pipe = _end_quietly  # type: ignore[method-assign,assignment]
    try:
        app()
        sys.stdout.flush()
    except BrokenPipeError:
        _end_quietly()


def _end_quietly(*_: object) -> NoReturn:
    # The reader of the output closed the pipe (`| head`), which is not an error.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)
