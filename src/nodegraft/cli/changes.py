"""Functions shared by commands that change a store: preview or make a change, show the result."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rich.console import RenderableType

from nodegraft.analysis.results.comparisons import Comparison
from nodegraft.analysis.results.label_sets import LabelSetComparison
from nodegraft.base.errors import DataError, SeveralLabelsError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.problems import Problems
from nodegraft.cli.inputs import similar_keys
from nodegraft.cli.options import EditOptions
from nodegraft.cli.output import RUNNING, Output
from nodegraft.cli.render.versions import (
    preview_lines,
    refit_advice,
    refit_line,
    version_line,
    warning_lines,
)
from nodegraft.cli.results.store import NewVersion
from nodegraft.cli.several_labels import comparison_of_several
from nodegraft.cli.terminal import Terminal, line

if TYPE_CHECKING:
    from nodegraft.analysis.card.card import Card
    from nodegraft.analysis.preview import Preview
    from nodegraft.analysis.version import Version
    from nodegraft.store.several_labels import SeveralLabelsStore
    from nodegraft.store.store import Store

EditOutput = Output[NewVersion | Comparison | LabelSetComparison]
"""Result of commands that edit labels: the new version; with --dry-run, a comparison."""

DRY_RUN = "Dry run: nothing was changed."


def open_store(place: Path, listener: Listener = SILENT, several_labels: bool = False) -> "Store":
    """Open a store; the function imports the slow store module only when needed.

    Args:
        several_labels: Whether the command supports stores with several labels per node.
    """
    from nodegraft.store.store import Store

    store = Store.open(place, listener=listener)
    if store.has_several_labels and not several_labels:
        store.close()
        raise SeveralLabelsError(f"The command {RUNNING.get()}")
    return store


def edit_labels(
    place: Path,
    action: str,
    arguments: "Callable[[Store, Problems], dict[str, Any]] | dict[str, Any]",
    options: EditOptions,
    terminal: Terminal,
    force_name: bool = False,
) -> EditOutput:
    """Change classes or labels of a store, or preview the change.

    Args:
        arguments: Arguments of the change, or a function that computes them from the store and
            collects problems of the user's input, which are reported with those of the change.
        terminal: Terminal output, which shows progress.
        force_name: Whether to accept names that differ from others only by case or spaces.
    """
    from nodegraft.analysis.labels.changes import Change

    with open_store(place, terminal, several_labels=True) as store, similar_keys(store.graph()):
        problems = Problems()
        detail = arguments if isinstance(arguments, dict) else arguments(store, problems)
        change = Change(action, detail).with_forced_name(force_name)
        with problems.collect():
            cost = store.fit_needed(change)
        problems.raise_all()
        if cost:
            terminal.note(refit_line(cost))
        if options.dry_run:
            return comparison(store, store.preview(change))
        terminal.stage(f"{action}: predicting before and after")
        version = store.change(change, intent=options.intent)
        return new_version(store, version)


def comparison(store: "Store", preview: "Preview") -> Output[Comparison | LabelSetComparison]:
    """Return the result of a dry run: how a change would affect the newest version of a store."""
    if store.has_several_labels:
        return comparison_of_several(cast("SeveralLabelsStore", store), preview, DRY_RUN)
    texts = store.texts([flip.node for flip in preview.examples])
    value = Comparison.of(store.version(), preview)
    return Output(value, (preview_lines(preview, texts), DRY_RUN))


def make_version(
    place: Path,
    make: "Callable[[Store], Version]",
    terminal: Terminal,
    several_labels: bool = False,
) -> Output[NewVersion]:
    """Make a new version of a store, and return the result of the command.

    Args:
        several_labels: Whether the command supports stores with several labels per node.
    """
    with open_store(place, terminal, several_labels) as store:
        terminal.stage("making the new version")
        return new_version(store, make(store))


def new_version(store: "Store", version: "Version") -> Output[NewVersion]:
    """Return the result of a command that made a version, with the model card of a live version."""
    live, waiting = store.live, store.waiting()
    warnings = version.measures.get("warnings", [])
    text: list[RenderableType] = [version_line(version, live, waiting is not None)]
    text += warning_lines(warnings)
    card, hints, place = None, tuple[str, ...](), shlex.quote(str(store.place))
    if version.number == live:
        card, card_line = written_card(store, live)
        text.append(card_line)
        if version.action not in ("refit", "discard"):
            hints = (f"See all versions with: nodegraft history {place}",)
    elif waiting is not None:
        hints = (
            f"Promote version {version.number} with: nodegraft promote {place}",
            f"Compare it with the live version: nodegraft diff {place}",
        )[: 1 if store.has_several_labels else 2]
    else:
        hints = (f"See all versions with: nodegraft history {place}",)
    fit = None if store.has_several_labels else store.last_fit()
    if fit and fit.is_dated and version.action != "refit":
        text.append(refit_advice(fit))
    candidate = None if waiting is None else waiting.number
    value = NewVersion.of(
        version, version.number == live, live=live, candidate=candidate, card=card
    )
    return Output(value, tuple(text), hints)


def written_card(store: "Store", version: int) -> tuple[str | None, RenderableType]:
    """Return the path of a live version's model card, and a line of text about the card.

    The path is None if the store could not write the card and has logged the error.
    """
    if store.has_several_labels:
        return None, line("No model card: a store with several labels per node has none.", "dim")
    path = store.card_path(version)
    if not path.exists():
        retry = shlex.join(["nodegraft", "card", str(store.place), "--version", str(version)])
        return None, line(f"The model card is not written. Write it with: {retry}", "yellow")
    return str(path), line(f"Model card: {path}", "dim")


def write_card(card: "Card", store: str, place: Path) -> None:
    """Write a model card to a file that the user chose, and its figures into the same folder."""
    from nodegraft.analysis.card.markdown import card_files

    for name, text in card_files(card, store, place.stem).items():
        try:
            (place.parent / name).write_text(text, "utf-8")
        except OSError as error:
            raise DataError(f"{place} cannot be written: {error}.") from error
