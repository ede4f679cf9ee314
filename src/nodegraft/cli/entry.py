"""Entry point of the ``nodegraft`` command, which names the extra to install if one is missing."""

import os
import sys
from typing import NoReturn


def main() -> None:
    """Run the command-line application."""
    try:
        from rich.console import Console

        from nodegraft.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit("The nodegraft command needs an extra: pip install 'nodegraft[cli]'")
    # Replace Rich's handler, which exits with an error if the reader of a pipe exits (`| head`).
    Console.on_broken_pipe = _end_quietly  # type: ignore[method-assign,assignment]
    try:
        app()
        sys.stdout.flush()
    except BrokenPipeError:
        _end_quietly()


def _end_quietly(*_: object) -> NoReturn:
    # It is no error if the reader of a pipe exits (`| head`), so discard the rest of the output.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)
