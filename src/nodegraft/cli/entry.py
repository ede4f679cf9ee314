"""Where the ``nodegraft`` command starts; says what to install where it cannot."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from nodegraft.cli.commands import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit("The nodegraft command needs its extra: pip install 'nodegraft[cli]'")
    app()
