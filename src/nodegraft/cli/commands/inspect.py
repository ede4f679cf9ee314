"""Commands of the help panel Predict and inspect that measure a version, and suggest labels."""

import shlex
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from nodegraft.analysis.results.comparisons import Drift
from nodegraft.analysis.results.nodes import LabelAudit
from nodegraft.base.errors import ParameterError
from nodegraft.cli.changes import open_store, write_card
from nodegraft.cli.options import LiveVersion, NewestVersion, StorePlace
from nodegraft.cli.output import Output, command
from nodegraft.cli.render.inspect import (
    audit_table,
    drift_table,
    evaluation_lines,
    new_class_lines,
    suggestions_table,
)
from nodegraft.cli.results.store import Card, Evaluation, Suggestions
from nodegraft.cli.terminal import Terminal, line

MAX_GROUPS = 3
"""Maximum number of groups to show that may be a new class."""


@command
def suggest(
    place: StorePlace,
    terminal: Terminal,
    count: Annotated[int, typer.Option(help="Number of nodes.")] = 10,
    version: NewestVersion = None,
) -> Output[Suggestions]:
    """Suggest nodes to label next, and groups of nodes that may be a new class."""
    from nodegraft.analysis.suggestions import new_classes, suggestions

    with open_store(place, terminal) as store:
        number = store.newest if version is None else version
        # Load the state once for both lists, so that they share its caches.
        state = store.state(number)
        terminal.stage("comparing uncertain nodes")
        nodes = suggestions(state, count)
        texts = store.texts([suggestion.node for suggestion in nodes], number)
        terminal.stage("grouping nodes of unknown classes")
        groups = {
            group: store.texts(group.examples, number) for group in new_classes(state, MAX_GROUPS)
        }
        fields = store.version(number).fields
    value = Suggestions(**fields, suggestions=nodes, new_classes=list(groups))
    hints = (f"Add labels: nodegraft label {shlex.quote(str(place))} --class NAME --nodes KEY,KEY",)
    text = (suggestions_table(nodes, texts), *new_class_lines(place, groups))
    return Output(value, text, hints if nodes else ())


@command
def drift(
    place: StorePlace,
    terminal: Terminal,
    before: Annotated[
        int | None, typer.Option(help="Version number; by default the live version.")
    ] = None,
    after: Annotated[
        int | None, typer.Option(help="Version number; by default the newest version.")
    ] = None,
) -> Output[Drift]:
    """Compare predictions, confidence, edges and features of two versions."""
    from nodegraft.analysis.drift import ALARM

    with open_store(place, terminal) as store:
        terminal.stage("predicting with both versions")
        shifts = store.drift(before, after)
        fields = store.version(after).fields
        old = store.live if before is None else before
    value = Drift(**fields, compared_with=old, threshold=ALARM, shifts=list(shifts))
    return Output(value, (drift_table(shifts, ALARM),))


@command
def evaluate(
    place: StorePlace,
    terminal: Terminal,
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
) -> Output[Evaluation]:
    """Compare methods on your labels: accuracy, and the cost of each new class."""
    from nodegraft.base.files.folder import WriteOnceFolder

    if out is not None:
        # Report a missing extra or an unwritable folder before the long computation.
        from nodegraft.lab.report.page import write_evaluation

        WriteOnceFolder(out).check_writable()
    with open_store(place, terminal) as store:
        evaluation = store.evaluate(methods, seeds=seeds, shots=shots, version=version)
    text: tuple[RenderableType, ...] = (evaluation_lines(evaluation),)
    page = None
    if out is not None:
        terminal.stage("drawing figures")
        page = str(write_evaluation(evaluation, place.resolve().name, out))
        text = (*text, line(f"report: {page}"))
    names = ("version", "recommended", "advice", "setting", "left_out", "methods", "lead")
    fields = {name: part for name, part in evaluation.to_json().items() if name in names}
    return Output(Evaluation(**fields, page=page), text)


@command
def card(
    place: StorePlace,
    terminal: Terminal,
    version: LiveVersion = None,
    out: Annotated[
        Path | None, typer.Option(help="Write a .md file, with its figures beside it.")
    ] = None,
) -> Output[Card]:
    """Show the model card of a version; if the version was live, store a missing card."""
    from nodegraft.analysis.card.markdown import card_markdown

    if out is not None and out.suffix != ".md":
        raise ParameterError(f"--out {out} must end in .md.")
    with open_store(place, terminal) as store:
        number = store.live if version is None else version
        content = store.card(number)
        if content.promotion is not None:
            # Users who may only read the store can see the card too, so ignore errors in writing
            # it.
            with suppress(OSError):
                store.write_card(number)
    name = place.resolve().name
    markdown = card_markdown(content, name)
    if out is not None:
        write_card(content, name, out)
    text = line(markdown.rstrip("\n") if out is None else f"card: {out}")
    return Output(Card(number, markdown, None if out is None else str(out)), (text,))


@command
def audit(
    place: StorePlace,
    terminal: Terminal,
    count: Annotated[int, typer.Option(help="Largest number of labels.")] = 20,
    version: NewestVersion = None,
) -> Output[LabelAudit]:
    """List labels that are probably wrong, with a reason and a suggested class."""
    with open_store(place, terminal) as store:
        number = store.newest if version is None else version
        terminal.stage("scoring every label without itself")
        doubts = store.audit_labels(count, number)
        texts = store.texts([suspicious.node for suspicious in doubts], number)
        fields = store.version(number).fields
    return Output(LabelAudit(**fields, labels=doubts), tuple(audit_table(doubts, texts, place)))


COMMANDS = {
    "suggest": suggest,
    "drift": drift,
    "evaluate": evaluate,
    "card": card,
    "audit": audit,
}
