"""Commands of the panel Predict and inspect: suggestions, drift, comparison of methods, card."""

from pathlib import Path
from typing import Annotated

import typer

from nodegraft.base.errors import ParameterError
from nodegraft.cli.errors import user_errors
from nodegraft.cli.options import LiveVersion, NewestVersion, StorePlace

MAX_GROUPS = 3
"""At most this many groups that may be a new class are shown."""


@user_errors
def suggest(
    place: StorePlace,
    count: Annotated[int, typer.Option(help="Number of nodes.")] = 10,
    version: NewestVersion = None,
) -> None:
    """Suggest nodes to label next, and groups of nodes that may be a new class."""
    from rich.console import Console

    from nodegraft.analysis.suggestions.new_classes import new_classes
    from nodegraft.analysis.suggestions.suggestion import suggestions
    from nodegraft.cli.render.inspect import new_class_lines, suggestions_table
    from nodegraft.store.store import Store

    with Store.open(place) as store:
        number = store.candidate if version is None else version
        # Load the state once for both: its first predictions fill caches.
        state = store.state(number)
        nodes = suggestions(state, count)
        texts = store.texts([suggestion.node for suggestion in nodes], number)
        groups = {
            group: store.texts(group.examples, number) for group in new_classes(state, MAX_GROUPS)
        }
    console = Console()
    console.print(suggestions_table(nodes, texts))
    for lines in new_class_lines(place, groups):
        # Commands are not wrapped, so that they can be copied.
        console.print(lines, soft_wrap=True)


@user_errors
def drift(
    place: StorePlace,
    before: Annotated[
        int | None, typer.Option(help="Version number; by default the live version.")
    ] = None,
    after: Annotated[
        int | None, typer.Option(help="Version number; by default the newest version.")
    ] = None,
) -> None:
    """Compare predictions, confidence, edges and features of two versions."""
    from rich.console import Console

    from nodegraft.cli.render.inspect import drift_table
    from nodegraft.store.store import Store

    with Store.open(place) as store:
        Console().print(drift_table(store.drift(before, after)))


@user_errors
def evaluate(
    place: StorePlace,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method", help="Method to compare; by default the store's and several others."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of random draws of classes and labels.")] = 5,
    shots: Annotated[int, typer.Option(help="Labels of each new class.")] = 5,
    version: NewestVersion = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for a report with figures and JSON.")
    ] = None,
) -> None:
    """Compare methods on your labels: accuracy, and the cost of each new class."""
    from rich.console import Console

    from nodegraft.base.files.folder import WriteOnceFolder
    from nodegraft.cli.progress import StatusLine
    from nodegraft.cli.render.inspect import evaluation_lines
    from nodegraft.store.store import Store

    console = Console()
    if out is not None:
        # A missing extra or an unwritable folder is reported before the long work.
        from nodegraft.lab.report.page.own_labels import write_evaluation

        WriteOnceFolder(out).check_writable()
    with StatusLine(console) as status, Store.open(place, listener=status) as store:
        evaluation = store.evaluate(methods, seeds=seeds, shots=shots, version=version)
    console.print(evaluation_lines(evaluation))
    if out is not None:
        page = write_evaluation(evaluation, place.resolve().name, out)
        console.print(f"report: {page}", highlight=False, soft_wrap=True, markup=False)


@user_errors
def card(
    place: StorePlace,
    version: LiveVersion = None,
    out: Annotated[
        Path | None, typer.Option(help="Write a .md file, with its figure beside it.")
    ] = None,
) -> None:
    """Show the model card of a version: classes, labels, accuracy and limits."""
    from rich.console import Console

    from nodegraft.analysis.card.markdown import card_markdown
    from nodegraft.cli.changes import write_card
    from nodegraft.store.store import Store

    if out is not None and out.suffix != ".md":
        raise ParameterError(f"--out {out} must end in .md.")
    with Store.open(place) as store:
        content = store.card(version)
    console, name = Console(), place.resolve().name
    if out is None:
        console.out(card_markdown(content, name), end="", highlight=False)
        return
    write_card(content, name, out)
    console.print(f"card: {out}", highlight=False, soft_wrap=True, markup=False)


COMMANDS = {"suggest": suggest, "drift": drift, "evaluate": evaluate, "card": card}
