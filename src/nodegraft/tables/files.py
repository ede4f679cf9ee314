"""Read table files: Parquet, CSV and JSON Lines, local or at any URL that fsspec supports."""

import csv
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from nodegraft.base.errors import DataError, ParameterError

ENDINGS = (".parquet", ".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
DELIMITERS = ",;\t|"
"""Column separators that are guessed from a CSV header, in order of preference."""

_GLOB = re.compile(r"[*?\[]")
_JSON_BLOCK = 1 << 26
"""Block size for reading JSON Lines files, in bytes; a longer line cannot be read."""


@dataclass(frozen=True)
class TableFiles:
    """File or files that contain a table."""

    filesystem: Any
    """File system (fsspec) that contains the files."""

    paths: tuple[str, ...]
    """Paths of the files, in row order; only a Parquet table may have several files."""

    @classmethod
    def of(cls, source: str | Path) -> "TableFiles":
        """Find the table files at a path, a folder, a glob or a URL.

        Raises:
            DataError: If there is no such file, or its file extension is not supported.
        """
        try:
            filesystem, path = fsspec.core.url_to_fs(str(source))
            if filesystem.isdir(path):
                paths = sorted(_parts(filesystem, path, source))
            elif is_glob(path) and not filesystem.exists(path):
                paths = sorted(filesystem.glob(path))
                if not paths:
                    raise DataError(f"No file matches {source}.")
            else:
                paths = [path]
            files = cls(filesystem, tuple(paths))
            for name in paths:
                if not name.endswith(ENDINGS):
                    raise DataError(f"{name} must end in {' or '.join(ENDINGS)}.")
            if not filesystem.isfile(paths[0]):
                raise DataError(f"There is no file {source}.")
        except (OSError, ValueError, ImportError) as error:
            raise DataError(f"{source} cannot be read: {error}.") from error
        if len(paths) > 1 and not files.is_parquet:
            raise DataError(f"{source} stands for {len(paths)} files: only Parquet comes in parts.")
        return files

    @property
    def is_parquet(self) -> bool:
        """Whether all files are Parquet files."""
        return all(path.endswith(".parquet") for path in self.paths)

    @property
    def typed(self) -> bool:
        """Whether the files store column types; False for CSV, whose types are guessed."""
        return not self.paths[0].endswith((".csv", ".csv.gz"))

    def identity(self) -> list[Any]:
        """Return path, size and modification time of each file as JSON, to detect changed files."""
        entries = [(path, self.filesystem.info(path)) for path in self.paths]
        return [
            [path, about.get("size"), str(about.get("mtime") or about.get("ETag"))]
            for path, about in entries
        ]

    def read(self, texts: Sequence[str], delimiter: str | None) -> Any:
        """Read the files as one Arrow table.

        Args:
            texts: Names or globs of columns that are read as text from a CSV file.
            delimiter: Column separator of a CSV file; None to guess it from the header.
        """
        try:
            if self.is_parquet:
                from pyarrow import dataset  # Import it here, because the import is slow.

                self._check_schemas()
                files = dataset.dataset(
                    list(self.paths), format="parquet", filesystem=self.filesystem
                )
                return files.to_table().combine_chunks()
            if not self.typed:
                return self._csv(texts, delimiter).combine_chunks()
            return self._json_lines().combine_chunks()
        except UnicodeDecodeError:
            raise DataError(
                f"{self.paths[0]} cannot be read: the names of its columns are not UTF-8: convert "
                "the file to UTF-8."
            ) from None
        except (pa.ArrowException, OSError, EOFError) as error:
            reason = self._explained(str(error), delimiter)
            raise DataError(f"{self.paths[0]} cannot be read: {reason}") from error

    def _check_schemas(self) -> None:
        """Raise an error if columns differ between files.

        Arrow would convert or drop such columns silently.
        """
        from pyarrow import parquet

        schemas = []
        for path in self.paths:
            try:
                schemas.append(parquet.read_schema(path, filesystem=self.filesystem))
            except (pa.ArrowException, OSError) as error:
                raise DataError(f"{path} cannot be read: {error}") from error
            require_same_columns(schemas[-1], schemas[0], path, self.paths[0])

    def _json_lines(self) -> Any:
        from pyarrow import json as json_lines

        def read(types: Any) -> Any:
            with self._opened() as file:
                return json_lines.read_json(
                    file,
                    read_options=json_lines.ReadOptions(block_size=_JSON_BLOCK),
                    parse_options=json_lines.ParseOptions(explicit_schema=types),
                )

        table = read(None)
        # JSON has no date type, but Arrow converts text that looks like a date. So read these
        # columns as text.
        dates = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
        return read(pa.schema([(name, pa.string()) for name in dates])) if dates else table

    def _opened(self) -> Any:
        return self.filesystem.open(self.paths[0], "rb", compression="infer")

    def _header(self, delimiter: str | None) -> tuple[str, list[str]]:
        """Return the column separator and the column names of a CSV file."""
        with self._opened() as file:
            line = file.readline().decode(errors="replace").rstrip("\r\n").removeprefix("\ufeff")
        if delimiter is not None and len(delimiter) != 1:
            raise ParameterError(f"A delimiter is one character, not {delimiter!r}.")
        parts = {mark: next(csv.reader([line], delimiter=mark), []) for mark in DELIMITERS}
        if delimiter is None:
            delimiter = max(DELIMITERS, key=lambda mark: len(parts[mark]))
        return delimiter, next(csv.reader([line], delimiter=delimiter), [])

    def _csv(self, texts: Sequence[str], delimiter: str | None) -> Any:
        mark, names = self._header(delimiter)
        # Set key and text columns to text, because Arrow would read 007 as the number 7.
        types = dict.fromkeys(matching(texts, names), pa.string())
        with self._opened() as file:
            table = pa.csv.read_csv(
                file,
                parse_options=pa.csv.ParseOptions(delimiter=mark),
                convert_options=pa.csv.ConvertOptions(column_types=types),
            )
        for place, field in enumerate(table.schema):
            if pa.types.is_string(field.type):
                # Set empty cells of text columns to missing, as Arrow does in other columns.
                column = table.column(place)
                values = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
                table = table.set_column(place, field.name, values)
        return table

    def _explained(self, error: str, delimiter: str | None) -> str:
        """Add advice and the column name to an error message of Arrow."""
        number = re.search(r"column #(\d+)", error)
        if number:
            names = self._header(delimiter)[1]
            if int(number[1]) < len(names):
                error = error.replace(number[0], f"column {names[int(number[1])]!r}")
        hint = ": convert the file to UTF-8" if "UTF8" in error else ""
        return error.rstrip(".") + hint + "."


def require_same_columns(schema: Any, first: Any, path: str, first_path: str) -> None:
    """Raise an error if the columns of a Parquet file differ from those of the first file."""
    if schema.equals(first):
        return
    names = [*first.names, *(name for name in schema.names if name not in first.names)]
    differing = [name for name in names if _types(schema, name) != _types(first, name)]
    types = "; ".join(
        f"{name!r} is {_types(schema, name)}, not {_types(first, name)}" for name in differing[:3]
    )
    what = types or "their order differs"
    raise DataError(f"{path} has other columns than {first_path}: {what}.")


def _types(schema: Any, name: str) -> str:
    return " and ".join(str(schema.field(n).type) for n in schema.get_all_field_indices(name)) or (
        "missing"
    )


def _parts(filesystem: Any, folder: str, source: str | Path) -> list[str]:
    """Return the Parquet files of a folder; raise an error if a subfolder contains any."""
    top = folder.rstrip("/")
    paths = [path for path in filesystem.find(top) if path.endswith(".parquet")]
    if not paths:
        raise DataError(f"There is no .parquet file in the folder {source}.")
    below = [path for path in paths if path.rpartition("/")[0] != top]
    if below:
        raise DataError(
            f"{len(below)} of the {len(paths)} .parquet files of {source} are in folders below it "
            f"(first {below[0]}): to read all of them, give the glob "
            f"'{str(source).rstrip('/')}/**/*.parquet'."
        )
    return paths


def is_glob(text: str) -> bool:
    """Return whether a path or column name contains wildcards.

    >>> is_glob("parts/*.parquet"), is_glob("nodes.csv")
    (True, False)
    """
    return bool(_GLOB.search(text))


def matching(
    patterns: Iterable[str], names: Sequence[str], excluded: Iterable[str] = ()
) -> list[str]:
    """Return the column names that match the given names or globs, without duplicates.

    >>> matching(["e*", "price"], ["key", "e1", "e2", "price"])
    ['e1', 'e2', 'price']

    Args:
        patterns: Names and globs of columns; a name that is not in `names` is returned unchanged.
    """
    candidates = [name for name in names if name not in set(excluded)]
    matches: list[str] = []
    for pattern in patterns:
        if pattern in names or not is_glob(pattern):
            matches.append(pattern)
        else:
            matches += [name for name in candidates if fnmatchcase(name, pattern)] or [pattern]
    return list(dict.fromkeys(matches))


def as_toml(values: dict[str, Any]) -> str:
    """Format values as TOML text; only types whose JSON form is valid TOML are supported.

    Args:
        values: Mapping from name to a string, an integer, a boolean or a list of strings.
    """
    # Do not escape non-ASCII characters, because JSON's surrogate pairs are invalid in TOML. DEL
    # must be escaped.
    texts = {name: json.dumps(value, ensure_ascii=False) for name, value in values.items()}
    lines = (f"{name} = {text}".replace("\x7f", "\\u007f") for name, text in texts.items())
    return "\n".join([*lines, ""])
