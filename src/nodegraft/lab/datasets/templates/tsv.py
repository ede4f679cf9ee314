"""Lines of fields with a TAB between, compressed or not."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from nodegraft.base.errors import DataError
from nodegraft.lab.datasets.templates.xz import read_lines


def read_rows(path: Path, fields: int) -> Iterator[list[str]]:
    """The fields of every line, split at TAB; quotes are letters like any other.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "names.tsv")
    ...     _ = path.write_text('0\\ta "b\\n1\\t\\n')
    ...     list(read_rows(path, 2))
    [['0', 'a "b'], ['1', '']]

    Args:
        path: The file, compressed if its name ends in ``.xz``.
        fields: How many each line must have.
    """
    for number, line in enumerate(_lines(path), start=1):
        row = line.rstrip("\n").split("\t")
        if len(row) != fields:
            raise DataError(
                f"{path}, line {number}: {len(row)} fields instead of {fields}: fetch it again."
            )
        yield row


def number_in(text: str, path: Path) -> int:
    """The number a field holds, or an error that names the file.

    >>> number_in("17", Path("nodes.tsv"))
    17
    """
    try:
        return int(text)
    except ValueError as error:
        raise DataError(f"{path}: {text!r} is no number: fetch it again.") from error


def _lines(path: Path) -> Iterable[str]:
    if path.suffix == ".xz":
        yield from read_lines(path)
    else:
        with path.open(encoding="utf-8") as lines:
            yield from lines
