"""Where the ``nodegraft`` command starts; says what to install where it cannot."""

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
        sys.exit("The nodegraft command needs its extra: pip install 'nodegraft[cli]'")
    # Rich would end the command with an error.
    Console.on_broken_pipe = _end_quietly  # type: ignore[method-assign,assignment]
    try:
        app()
        sys.stdout.flush()
    except BrokenPipeError:
        _end_quietly()


def _end_quietly(*_: object) -> NoReturn:
    # Whoever read the output has had enough (`| head`): that is no error.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)
