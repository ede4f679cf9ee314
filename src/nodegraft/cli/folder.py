"""Write the files of a command into a folder of the user."""

from collections.abc import Mapping
from pathlib import Path

from nodegraft.base.errors import ParameterError


def fill_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a new or empty folder.

    Args:
        folder: The folder; if it holds anything, an error is raised.
        files: File name -> content.
    """
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ParameterError(f"{folder} is not empty: choose a new or an empty folder.")
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise ParameterError(f"{folder} cannot be written: {error}.") from error
