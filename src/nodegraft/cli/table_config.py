"""Configuration file nodegraft.toml in the folder of tables, with options for reading them."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from nodegraft.base.errors import DataError
from nodegraft.cli.options import key_option
from nodegraft.cli.terminal import Terminal, line

if TYPE_CHECKING:
    from nodegraft.store.store import Store

FILE, SECTION = "nodegraft.toml", "tables"

_HEAD = """\
# How nodegraft reads the tables in this folder: read by nodegraft init, grow, sync and predict.
# Options on the command line win.
"""

_TYPES: dict[str, type | tuple[type, ...]] = {
    "key": (list, str),
    "key_type": str,
    "label": str,
    "label_key": str,
    "source": str,
    "target": str,
    "edge_type": str,
    "edge_weight": str,
    "directed": bool,
    "directed_types": str,
    "delimiter": str,
    "text": (list, str),
    "features": (list, str),
    "no_features": bool,
    "categories": (list, str),
    "encoder": (list, str),
    "min_documents": int,
}

_PARTNERS = {
    "features": ("no_features",),
    "no_features": ("features", "text", "categories"),
    "text": ("no_features",),
    "categories": ("no_features",),
    "directed": ("directed_types",),
    "directed_types": ("directed",),
}
"""Option on the command line -> options of the file that are ignored because they contradict it."""


@dataclass(frozen=True)
class TableConfig:
    """Options that were read from a nodegraft.toml."""

    place: Path | None = None
    """Path of the file; None if there is no file."""

    values: dict[str, Any] = field(default_factory=dict)
    """Python name of each option -> its value."""

    @classmethod
    def beside(cls, *tables: str | None) -> "TableConfig":
        """Read the nodegraft.toml of the first local table that has one in its folder."""
        for table in filter(None, tables):
            place = _folder_beside(table) / FILE
            if "://" not in table and place.is_file():
                return cls(place, _checked(place))
        return cls()

    @staticmethod
    def place_beside(table: str | None) -> Path:
        """Return the path for a new nodegraft.toml in a table's folder; refuse an existing file."""
        if table is None or "://" in table:
            raise DataError(
                f"--write-config writes {FILE} beside a local table: give --nodes FILE."
            )
        place = _folder_beside(table) / FILE
        if place.exists():
            raise DataError(f"{place} already exists: edit it, or remove it first.")
        return place

    @staticmethod
    def write(place: Path, values: dict[str, Any]) -> None:
        """Write a new nodegraft.toml; raise an error if it exists."""
        from nodegraft.tables.files import as_toml

        section = {name: values[name] for name in _TYPES if values[name] not in (None, False, [])}
        try:
            with place.open("x", encoding="utf-8") as file:
                file.write(f"{_HEAD}[{SECTION}]\n{as_toml(section)}")
        except OSError as error:
            raise DataError(f"{place} cannot be written: {error}.") from error

    @property
    def exists(self) -> bool:
        """Whether a nodegraft.toml was found."""
        return self.place is not None

    def line(self, used: Iterable[str] = tuple(_TYPES)) -> str:
        """Return a note that lists the options that were read from the file."""
        names = [name for name in self.values if name in used]
        return f"Read {self.place}: {', '.join(names) or 'no options of this command'}."

    def completed(self, context: typer.Context, **values: Any) -> dict[str, Any]:
        """Return command-line options; take options that the user did not give from the file."""
        typed = {name for name in values if _is_typed(context, name)}
        typed |= {partner for name in typed for partner in _PARTNERS.get(name, ())}
        return values | {name: self.values[name] for name in self.values if name not in typed}


def columns_beside(store: "Store", terminal: Terminal, *files: str) -> dict[str, Any]:
    """Read options from the nodegraft.toml beside new tables of a store; print a note on them."""
    from nodegraft.store.table_changes import GROWING

    config = TableConfig.beside(*files)
    given, own = config.values.get("key_type"), store.table_options.get("key_type")
    if None not in (given, own) and given != own:
        raise DataError(
            f"{config.place}: key_type is {given!r}, but the keys of the store have type {own!r}: "
            "change or remove key_type."
        )
    if config.exists:
        terminal.note(line(config.line(GROWING)))
    options = {name: value for name, value in config.values.items() if name in GROWING}
    return options | ({"key": key_option(options["key"])} if "key" in options else {})


def _is_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _folder_beside(table: str) -> Path:
    """Return the folder that contains a table; for several files, the folder above them."""
    from nodegraft.tables.files import is_glob

    place = Path(table)
    if not place.exists():
        while is_glob(str(place)):
            place = place.parent
    return place.parent


def _checked(place: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{place} cannot be read: {error}.") from error
    other = next((name for name in content if name != SECTION), None)
    values = content.get(SECTION, {})
    if other is not None or not isinstance(values, dict):
        text = repr(SECTION if other is None else other)
        raise DataError(f"{place} has {text}: its only section must be [{SECTION}].")
    for name, value in values.items():
        if name not in _TYPES:
            raise DataError(f"{place} has an unknown option {name!r}; known: {', '.join(_TYPES)}.")
        if not _fits(value, _TYPES[name]):
            raise DataError(f"{place}: {name} has a value of the wrong type: {value!r}.")
    return dict(values)


def _fits(value: Any, types: type | tuple[type, ...]) -> bool:
    if isinstance(value, list):
        return types == (list, str) and all(isinstance(part, str) for part in value)
    # A bool is also an int in Python, so exclude it explicitly.
    return isinstance(value, types) and (types is bool or not isinstance(value, bool))
