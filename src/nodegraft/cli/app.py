"""The command line: its commands, put together. Nothing slow is imported before it is needed."""

from importlib.metadata import version
from typing import Annotated

import typer

from nodegraft.cli.commands.bench import bench
from nodegraft.cli.commands.build import build
from nodegraft.cli.commands.check import check
from nodegraft.cli.commands.compact import compact
from nodegraft.cli.commands.data import info
from nodegraft.cli.commands.example import example
from nodegraft.cli.commands.growing import grow, sync
from nodegraft.cli.commands.judging import card, evaluate
from nodegraft.cli.commands.keeping import prune, purge, verify
from nodegraft.cli.commands.lists import list_datasets, list_methods
from nodegraft.cli.commands.map import draw_map
from nodegraft.cli.commands.mending import (
    diff,
    discard,
    history,
    merge,
    migrate,
    promote,
    refit,
    remove,
    rename,
    rollback,
    split,
    undo,
)
from nodegraft.cli.commands.propagating import propagate
from nodegraft.cli.commands.report import report
from nodegraft.cli.commands.results import results
from nodegraft.cli.commands.run import run
from nodegraft.cli.commands.serving import add_token, list_tokens, revoke_token, serve
from nodegraft.cli.commands.settings import settings
from nodegraft.cli.commands.table import table
from nodegraft.cli.commands.teaching import add, label, relabel, unlabel
from nodegraft.cli.commands.tune import tune
from nodegraft.cli.commands.using import explain, init, predict
from nodegraft.cli.commands.watching import drift, suggest

app = typer.Typer(
    help="Teach a graph model new classes from a handful of labelled nodes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
lab = typer.Typer(help="Methods measured on streams of classes.", no_args_is_help=True)
tokens = typer.Typer(help="Manage API tokens.", no_args_is_help=True)

PANELS = {
    "Your data": {
        "example": example,
        "init": init,
        "grow": grow,
        "sync": sync,
        "build": build,
        "propagate": propagate,
    },
    "Teaching": {"add": add, "label": label, "relabel": relabel, "unlabel": unlabel},
    "Mending": {
        "undo": undo,
        "remove": remove,
        "rename": rename,
        "merge": merge,
        "split": split,
        "refit": refit,
        "promote": promote,
        "discard": discard,
        "rollback": rollback,
        "history": history,
        "diff": diff,
    },
    "Using": {
        "predict": predict,
        "explain": explain,
        "suggest": suggest,
        "drift": drift,
        "evaluate": evaluate,
        "card": card,
        "serve": serve,
    },
    "Keeping": {
        "verify": verify,
        "settings": settings,
        "prune": prune,
        "purge": purge,
        "migrate": migrate,
    },
}
LABORATORY = {
    "run": run,
    "bench": bench,
    "results": results,
    "compact": compact,
    "table": table,
    "report": report,
    "tune": tune,
    "check": check,
    "map": draw_map,
    "info": info,
    "methods": list_methods,
    "datasets": list_datasets,
}
for panel, commands in PANELS.items():
    for name, command in commands.items():
        app.command(name, rich_help_panel=panel)(command)
for name, command in LABORATORY.items():
    lab.command(name)(command)
tokens.command("add")(add_token)
tokens.command("list")(list_tokens)
tokens.command("revoke")(revoke_token)
app.add_typer(tokens, name="token", rich_help_panel="Using")
app.add_typer(lab, name="lab", rich_help_panel="Laboratory")


def _show_version(wanted: bool) -> None:
    if wanted:
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
    """Options that come before a command.

    Args:
        show_version: Whether to say the version and do nothing else.
    """
