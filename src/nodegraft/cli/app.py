"""Command-line application, which registers all commands by help panel and avoids slow imports."""

from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from nodegraft.cli.commands import (
    build,
    data,
    doctor,
    inspect,
    maintenance,
    predict,
    serve,
    teach,
    versions,
)
from nodegraft.cli.commands.lab import lists, methods, records, runs
from nodegraft.cli.output import show_error

USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]
"""Base class of errors for wrong options, from the click that typer includes."""


class _Program(TyperGroup):
    """Command group that reports wrong options as JSON if --json is given."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        as_json = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except USAGE_ERROR as error:
            if not as_json:
                raise
            show_error("usage", error.format_message(), as_json)  # type: ignore[attr-defined]
            raise typer.Exit(2) from error


app = typer.Typer(
    cls=_Program,
    help="Teach a graph model new classes from a handful of labelled nodes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
lab = typer.Typer(help="Compare methods on streams of classes.", no_args_is_help=True)
tokens = typer.Typer(help="Manage API tokens.", no_args_is_help=True)

PANELS = {
    "Data": data.COMMANDS | build.COMMANDS,
    "Teach": teach.COMMANDS,
    "Versions": versions.COMMANDS,
    "Predict and inspect": predict.COMMANDS | inspect.COMMANDS,
    "Serve": serve.COMMANDS,
    "Maintenance": maintenance.COMMANDS | doctor.COMMANDS,
}
"""Title of each help panel -> commands in the panel."""

for panel, commands in PANELS.items():
    for name, command in commands.items():
        app.command(name, rich_help_panel=panel)(command)
for name, command in serve.TOKEN_COMMANDS.items():
    tokens.command(name)(command)
for file in (runs, records, methods, lists):
    for name, command in file.COMMANDS.items():
        lab.command(name)(command)
app.add_typer(tokens, name="token", rich_help_panel="Serve")
app.add_typer(lab, name="lab", rich_help_panel="Benchmark")


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"nodegraft {version('nodegraft')}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Handle the options that are given before the name of a command.

    Args:
        show_version: Whether to show the version of nodegraft and exit.
    """
