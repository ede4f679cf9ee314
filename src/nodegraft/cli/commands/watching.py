"""Commands that say what to look at: nodes worth a label, and what has moved."""

from typing import Annotated

import typer

from nodegraft.cli.errors import user_errors
from nodegraft.cli.store_options import StorePlace

GROUPS = 3
"""So many groups that may be a new class are shown."""


@user_errors
def suggest(
    place: StorePlace,
    count: Annotated[int, typer.Option(help="How many nodes.")] = 10,
    version: Annotated[
        int | None, typer.Option("--version", help="Which one is unsure; the newest by default.")
    ] = None,
) -> None:
    """Which nodes to label next, and groups of nodes that may be a new class."""
    from rich.console import Console

    from nodegraft.cli.display.suggesting import show_new_classes, suggestions_table
    from nodegraft.store.new_classes import new_classes
    from nodegraft.store.store import Store
    from nodegraft.store.suggestion import suggestions

    with Store.open(place) as store:
        number = store.candidate if version is None else version
        # Once for both: a model works out much when it is first asked.
        state = store.state(number)
        found = suggestions(state, count)
        texts = store.texts([one.node for one in found], number)
        groups = {one: store.texts(one.examples, number) for one in new_classes(state, GROUPS)}
    console = Console()
    console.print(suggestions_table(found, texts))
    show_new_classes(console, place, groups)


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
