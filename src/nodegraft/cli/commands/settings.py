"""Command that shows and changes the settings of a store."""

from typing import Annotated

import typer

from nodegraft.base.errors import ParameterError
from nodegraft.cli.errors import user_errors
from nodegraft.cli.store_options import By, StorePlace


@user_errors
def settings(
    place: StorePlace,
    change: Annotated[
        str | None, typer.Argument(metavar="[NAME=VALUE]", help="The setting to change.")
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Show who changed which setting, when and why.")
    ] = False,
    note: Annotated[str, typer.Option(help="Why: kept in the history of settings.")] = "",
    by: By = None,
) -> None:
    """Show the settings of a store, or change one; every change is kept in a history."""
    from rich.console import Console

    from nodegraft.cli.display.settings import changed_line, history_table, settings_table
    from nodegraft.store.store import Store

    console = Console()
    if history and change is not None:
        raise ParameterError("Give NAME=VALUE or --history, not both.")
    with Store.open(place) as store:
        if history:
            console.print(history_table(store.settings_history()))
        elif change is None:
            console.print(settings_table(store.settings()))
        else:
            name, equals, value = change.partition("=")
            if not equals:
                raise ParameterError(
                    f"{change!r} must look like NAME=VALUE: max_removed_share=0.2."
                )
            before = store.setting(name.strip())
            after = store.set_setting(name.strip(), value.strip(), by=by, note=note)
            console.print(changed_line(name.strip(), before, after))
