"""Lines and stanzas of .xz files."""

import lzma
from collections.abc import Iterator
from pathlib import Path

from nodegraft.base.errors import DataError


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[str]:
    """Every line of a compressed text file, with its line end."""
    try:
        with lzma.open(path, "rt", encoding=encoding) as lines:
            yield from lines
    except (lzma.LZMAError, EOFError) as error:
        raise DataError(
            f"{path} is truncated or not an .xz file ({error}): fetch it again."
        ) from error


def read_stanzas(path: Path) -> Iterator[dict[str, str]]:
    """Blocks of ``Field: value`` lines, a blank line between; indented lines continue a value.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "index.xz")
    ...     with lzma.open(path, "wt") as file:
    ...         _ = file.write("Package: a\\nText: one\\n two\\n\\nPackage: b\\n")
    ...     list(read_stanzas(path))
    [{'Package': 'a', 'Text': 'one\\ntwo'}, {'Package': 'b'}]
    """
    stanza: dict[str, str] = {}
    field = ""
    for line in read_lines(path):
        # A line of blanks is no end: it continues a description.
        if line == "\n":
            if stanza:
                yield stanza
            stanza = {}
        elif line[0] == " ":
            stanza[field] += "\n" + line.strip()
        else:
            field, _, value = line.partition(":")
            stanza[field] = value.strip()
    if stanza:
        yield stanza
