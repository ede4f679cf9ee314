"""Decorator of all commands, which parses options and prints errors and results."""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, Union, get_args, get_origin

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from nodegraft.analysis.results.result import Result
from nodegraft.base.errors import CandidateWaitsError, NodegraftError, ParameterError
from nodegraft.base.extras import extra
from nodegraft.cli.table_files import STDOUT, table_of, write_tables
from nodegraft.cli.terminal import (
    Format,
    Terminal,
    between_words,
    line,
    line_width,
    print_part,
    stdout_console,
)

if TYPE_CHECKING:
    import pyarrow as pa

_PYTHON_AND_FLAG = re.compile(r"[\w.]+=\S+ \((--[^)]+)\)")
"""Pattern of a Python argument followed by its CLI option, such as ``repair=True (--repair)``."""

RUNNING = ContextVar("RUNNING", default="")
"""Name of the command that runs."""

R = TypeVar("R", bound=Result, covariant=True)

_JSON = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
_CSV = Annotated[
    str | None, typer.Option("--csv", metavar="FILE", help="Write the result as CSV; - prints it.")
]
_PARQUET = Annotated[
    str | None,
    typer.Option("--parquet", metavar="FILE", help="Write the result as Parquet; - prints it."),
]
_TO = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="URL#TABLE",
        help="Write the result into a new table of a database: sqlite:///shop.db#predictions.",
    ),
]
_REPLACE = Annotated[
    bool, typer.Option("--replace", help="Replace the table of --to if it exists.")
]


@dataclass(frozen=True)
class Output(Generic[R]):
    """Result of a command: a value for programs, and text for people."""

    value: R
    """Result that ``--json`` prints."""

    text: tuple[RenderableType, ...] = ()
    """Lines and tables of text; strings are wrapped at the width of the terminal."""

    hints: tuple[str, ...] = ()
    """Suggested next commands, which are printed only if the output is a terminal."""

    exit_code: int = 0
    """Exit code of the command."""

    tables: "Iterable[pa.Table] | None" = None
    """Rows for ``--csv`` and ``--parquet``; None to write the rows of ``value``."""

    written: Callable[[], str] | None = None
    """Function that returns the message after writing; None to report the number of rows."""


def with_flags(message: str) -> str:
    """Remove Python arguments from an error message where they are followed by CLI options.

    >>> with_flags("Give a reason: override='…' (--override REASON).")
    'Give a reason: --override REASON.'
    """
    return _PYTHON_AND_FLAG.sub(r"\1", message)


def command(function: Callable[..., Any]) -> Callable[..., None]:
    """Return a command-line command that runs a function and prints its result.

    A parameter of the function whose type is a dataclass of options adds these options to the
    command. A parameter of type :class:`Terminal` receives an object that shows progress. If the
    function returns an :class:`Output`, the command has the option ``--json``; if the result has a
    table, also ``--csv`` and ``--parquet``. User errors are printed as one message without a
    traceback, as JSON if ``--json`` is given; the exit code is 2.

    Args:
        function: Function whose parameters are arguments, options, and dataclasses of options.
    """
    signature = inspect.signature(function)
    own, results = signature.parameters, _result_types(signature.return_annotation)
    types: dict[str, Any] = {name: parameter.annotation for name, parameter in own.items()}
    groups = {
        name: (group, inspect.signature(group).parameters)
        for name, group in types.items()
        if is_dataclass(types[name])
    }
    terminals = [name for name, kind in types.items() if kind is Terminal]
    parameters = [parameter for name, parameter in own.items() if name not in (*groups, *terminals)]
    parameters += [option for _, options in groups.values() for option in options.values()]
    parameters += _format_options(results)

    def run(**values: Any) -> None:
        RUNNING.set(run.__name__)
        as_json = values.pop("as_json", False)
        with _shown_errors(as_json):
            replace = values.pop("replace_table", False)
            places = {kind: values.pop(kind, None) for kind in ("csv", "parquet", "to")}
            kind: Format = _format(as_json, places, replace)
            for name, (group, options) in groups.items():
                values[name] = group(**{option: values.pop(option) for option in options})
            with Terminal(kind) as terminal:
                values |= dict.fromkeys(terminals, terminal)
                with extra("lab", package="nodegraft.lab", purpose="This command"):
                    output = function(**values)
                if output is not None and kind == "table":
                    _write_table(output, terminal, places, replace)
            if output is not None and kind != "table":
                _show(output, kind)
            if output is not None and output.exit_code:
                raise typer.Exit(output.exit_code)

    run.__name__, run.__doc__, run.__module__ = (
        function.__name__,
        function.__doc__,
        function.__module__,
    )
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.results = results  # type: ignore[attr-defined]
    return run


def plain(value: Any) -> Any:
    """Convert a result to plain JSON: objects, lists, strings, numbers, booleans and null.

    A field name that ends in ``_`` because it is a Python keyword loses the ``_``.
    """
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((field.name.rstrip("_"), getattr(value, field.name)) for field in fields(value))
        return {name: plain(part) for name, part in pairs}
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "item"):
        value = value.item()
    # JSON has no NaN, so write null instead.
    return None if isinstance(value, float) and value != value else value


def show_error(code: str, message: str, as_json: bool, **more: Any) -> None:
    """Print an error message to standard error, or as JSON to standard output.

    Args:
        more: Other fields of the JSON object.
    """
    if as_json:
        _print_json({"error": {"code": code, "message": message, **more}})
        return
    console = Console(stderr=True, highlight=False)
    text = Text(between_words(f"Error: {message}", line_width(console)))
    text.stylize("bold red", 0, len("Error:"))
    console.print(text, soft_wrap=True)


def _result_types(annotation: Any) -> tuple[type[Result], ...]:
    """Return the result types in a command's return annotation, such as ``Output[A | B]``."""
    inner = get_args(annotation)
    if not inner:
        return ()
    return get_args(inner[0]) if get_origin(inner[0]) in (Union, UnionType) else (inner[0],)


def _format_options(results: tuple[type[Result], ...]) -> Iterator[inspect.Parameter]:
    options: dict[str, tuple[Any, Any]] = {"as_json": (_JSON, False)} if results else {}
    if any(result.TABLE for result in results):
        options |= {"csv": (_CSV, None), "parquet": (_PARQUET, None), "to": (_TO, None)}
        options |= {"replace_table": (_REPLACE, False)}
    for name, (kind, default) in options.items():
        yield inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default
        )


def _format(as_json: bool, places: dict[str, str | None], replace: bool) -> Format:
    count = sum(place is not None for place in places.values())
    if as_json + count > 1:
        raise ParameterError("Give one of --json, --csv, --parquet and --to.")
    if replace and places["to"] is None:
        raise ParameterError("--replace has no effect without --to: omit it.")
    return "json" if as_json else "table" if count else "text"


def _show(output: Output[Result], kind: Format) -> None:
    if kind == "json":
        _print_json(plain(output.value))
        return
    console, errors = stdout_console(), Console(stderr=True, highlight=False)
    for part in output.text:
        print_part(console, line(part) if isinstance(part, str) else part)
    if errors.is_terminal:
        for hint in output.hints:
            print_part(errors, line(hint, "dim"))


def _write_table(
    output: Output[Result], terminal: Terminal, places: dict[str, str | None], replace: bool
) -> None:
    ((kind, place),) = ((kind, place) for kind, place in places.items() if place is not None)
    tables, summary = output.tables, "written."
    if tables is None:
        rows = plain(output.value)[output.value.TABLE]
        summary = f"{len(rows):,} rows written."
        tables = [table_of(rows, list(rows[0]) if rows else output.value.columns())]
    if kind == "to":
        from nodegraft.tables.sql.place import TABLE, DatabasePlace
        from nodegraft.tables.sql.write import write_parts

        write_parts(tables, place, replace=replace)
        # Do not print the URL, which may contain a password.
        place = "table " + DatabasePlace.of(place, TABLE).selection
    else:
        write_tables(tables, place, kind == "csv")
    if output.written:
        summary = output.written()
    if place != STDOUT:
        terminal.pause()
        print_text(f"{place}: {summary}")


def print_text(text: str) -> None:
    """Print one line to standard output."""
    print_part(stdout_console(), line(text))


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


@contextmanager
def _shown_errors(as_json: bool) -> Iterator[None]:
    try:
        yield
    except NodegraftError as error:
        objections = getattr(error, "objections", ())
        more = {"objections": list(objections)} if objections else {}
        show_error(error.code, _message(error), as_json, **more)
        raise typer.Exit(2) from error
    except typer.Abort:
        if not as_json:
            raise
        show_error("aborted", "Nothing was changed: confirm with --yes.", as_json)
        raise typer.Exit(1) from None


def _message(error: NodegraftError) -> str:
    if isinstance(error, CandidateWaitsError):
        return (
            f"{error.what_happened} Promote it with: nodegraft promote STORE, discard it with: "
            "nodegraft discard STORE, or omit --promote to add the change to it."
        )
    return with_flags(str(error))
