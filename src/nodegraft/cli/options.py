"""Options that several commands take."""

from pathlib import Path
from typing import Annotated

import typer

DataRoot = Annotated[
    Path | None,
    typer.Option("--data", help="Folder that holds the data folders [env: NODEGRAFT_DATA]."),
]
DatasetOptions = Annotated[
    list[str] | None,
    typer.Option("--dataset-set", metavar="NAME=VALUE", help="Set an option of the dataset."),
]
