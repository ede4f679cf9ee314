"""Commands that say how good a store's model is, and whether another method would be better."""

from pathlib import Path
from typing import Annotated

import typer

from nodegraft.base.errors import ParameterError
from nodegraft.cli.errors import user_errors
from nodegraft.cli.store_options import StorePlace, WhichVersion


@user_errors
def evaluate(
    place: StorePlace,
    methods: Annotated[
        list[str] | None,
        typer.Option("--method", help="A method to compare; by default the store's and some more."),
    ] = None,
    seeds: Annotated[
        int, typer.Option(help="How many times new classes and labels are drawn.")
    ] = 5,
    shots: Annotated[int, typer.Option(help="How many labels teach a new class.")] = 5,
    version: Annotated[
        int | None, typer.Option("--version", help="Whose labels; the newest by default.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A folder for a page with figures, and the numbers as JSON.")
    ] = None,
) -> None:
    """Which method is best on your labels, and how much each new class costs."""
    from rich.console import Console

    from nodegraft.base.files.folder import WriteOnceFolder
    from nodegraft.cli.display.evaluation import evaluation_lines
    from nodegraft.cli.display.store import Steps
    from nodegraft.store.store import Store

    console = Console()
    if out is not None:
        # What cannot be drawn or written is told before the work.
        from nodegraft.report.page.own_labels import write_evaluation

        WriteOnceFolder(out).check_writable()
    with Store.open(place) as store, Steps(console) as steps:
        found = store.evaluate(methods, seeds=seeds, shots=shots, version=version, listener=steps)
    console.print(evaluation_lines(found))
    if out is not None:
        page = write_evaluation(found, place.resolve().name, out)
        console.print(f"report: {page}", highlight=False, soft_wrap=True, markup=False)


@user_errors
def card(
    place: StorePlace,
    version: WhichVersion = None,
    out: Annotated[
        Path | None, typer.Option(help="Write a .md instead, and its picture beside it.")
    ] = None,
) -> None:
    """The model card of a version: what it is, was taught, gets right, and is not for."""
    from rich.console import Console

    from nodegraft.cli.display.card import write_card
    from nodegraft.report.card.markdown import card_markdown
    from nodegraft.store.store import Store

    if out is not None and out.suffix != ".md":
        raise ParameterError(f"{out} must end in .md.")
    with Store.open(place) as store:
        found = store.card(version)
    console, name = Console(), place.resolve().name
    if out is None:
        console.out(card_markdown(found, name), end="", highlight=False)
        return
    write_card(found, name, out)
    console.print(f"card: {out}", highlight=False, soft_wrap=True, markup=False)
