"""The command that hands out tables to try things on."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from nodegraft.base.errors import ParameterError
from nodegraft.cli.errors import user_errors

TABLES = ("nodes", "edges", "labels")
STORE = "my-store"
"""What the store is called in the command to type next."""


@user_errors
def example(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A new folder that the tables go to.")
    ],
) -> None:
    """Write tables to try things on: English nouns and how they are related (WordNet 3.0)."""
    from rich.console import Console

    _copy(folder)
    places = {name: folder / f"{name}.parquet" for name in TABLES}
    tables = " ".join(f"--{name} {shlex.quote(str(place))}" for name, place in places.items())
    # Never wrapped: the last line is there to be copied.
    Console().print(
        f"{folder}: nodes.parquet, edges.parquet, labels.parquet (from WordNet 3.0: LICENSE).\n"
        "Next, make a store of them:\n"
        f"nodegraft init {STORE} {tables} --text description --type kind --directed",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def _copy(folder: Path) -> None:
    from importlib.resources import files

    excerpt = files("nodegraft") / "datasets" / "excerpt"
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ParameterError(
                f"{folder} exists already: choose a new folder for the tables, or an empty one."
            )
        folder.mkdir(parents=True, exist_ok=True)
        for name in (*(f"{table}.parquet" for table in TABLES), "LICENSE"):
            (folder / name).write_bytes((excerpt / name).read_bytes())
    except OSError as error:
        raise ParameterError(f"{folder} cannot be written: {error}.") from error
