"""Options that several commands take, and what is written in them."""

from pathlib import Path
from typing import Annotated

import typer

from nodegraft.base.errors import ParameterError

DataRoot = Annotated[
    Path | None,
    typer.Option("--data", help="Folder that holds the data folders (or set NODEGRAFT_DATA)."),
]
DatasetOptions = Annotated[
    list[str] | None,
    typer.Option("--dataset-set", metavar="NAME=VALUE", help="Set an option of the dataset."),
]


def name_value_pairs(settings: list[str] | None) -> dict[str, str]:
    """What ``--set name=value`` says.

    >>> name_value_pairs(["base-shots=5"])
    {'base_shots': '5'}

    Args:
        settings: The texts, as they were given.
    """
    pairs = {}
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ParameterError(f"{setting!r} must look like name=value.")
        pairs[name.strip().replace("-", "_")] = value.strip()
    return pairs
