"""Commands that say what to look at: nodes worth a label, and what has moved."""

from typing import Annotated

import typer

from nodegraft.cli.errors import user_errors
from nodegraft.cli.store_options import StorePlace


@user_errors
def suggest(
    place: StorePlace,
    count: Annotated[int, typer.Option(help="How many nodes.")] = 10,
    version: Annotated[
        int | None, typer.Option("--version", help="Which one is unsure; the newest by default.")
    ] = None,
) -> None:
    """Which nodes to label next: unsure ones, each standing for others like it."""
    from rich.console import Console

    from nodegraft.cli.display.watching import suggestions_table
    from nodegraft.store.store import Store

    with Store.open(place) as store:
        Console().print(suggestions_table(store.suggest(count, version)))


@user_errors
def drift(
    place: StorePlace,
    before: Annotated[
        int | None, typer.Option(help="Compared with this version; the champion by default.")
    ] = None,
    after: Annotated[
        int | None, typer.Option(help="Today's version; the newest by default.")
    ] = None,
) -> None:
    """Whether answers, confidence, edges or features have moved since a version was made."""
    from rich.console import Console

    from nodegraft.cli.display.watching import drift_table
    from nodegraft.store.store import Store

    with Store.open(place) as store:
        Console().print(drift_table(store.drift(before, after)))
