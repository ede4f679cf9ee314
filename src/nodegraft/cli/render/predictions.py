"""Rendering of predictions as a table."""

from math import isnan
from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from nodegraft.base.counting import counted
from nodegraft.cli.render.values import NodeTable, Texts, add_text_column, likely

if TYPE_CHECKING:
    from nodegraft.analysis.prediction_table import Predictions

OTHERS = 24
"""Maximum width that is reserved for the column of alternative classes."""

MAX_SHOWN = 50
"""Maximum number of predictions to show; the note below advises to write more to a file."""

TEXT_WIDTH = 9
"""Minimum width of the text column beside the three columns of numbers."""

GAP = 2
"""Number of characters between two columns."""

NUMBERS = ("confidence", "probability", "known")

NO_ROOM = "No room for the {}: widen the terminal, or use --json."

SET_SHOWN = 4
"""Maximum number of classes of a prediction set to show."""


def predictions_table(
    answers: "Predictions", texts: Texts, remaining: int = 0, width: int = 80
) -> RenderableType:
    """Return a table with a row for each node: class, confidence, probability and known.

    The class column shows the label of a labelled node, with the prediction if it differs, or the
    reason why a node has no class. The text column is omitted if there is more than one alternative
    class. On a narrow terminal, the text column is omitted first, then alternative classes.

    Args:
        remaining: Number of further nodes that are not shown.
    """
    table = NodeTable(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("node", overflow="fold", min_width=len("node"))
    table.add_column("class", overflow="fold", min_width=len("class"))
    for name in NUMBERS:
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    predictions = answers.predictions
    classes = [_class_cell(answers, row, predictions[row]) for row in range(len(answers))]
    leaves = answers.leaves
    others = [
        _others(answers, row, is_best=predictions[row] == leaves[row])
        for row in range(len(answers))
    ]
    optional = {"others": others}
    if answers.sets is not None and answers.coverage is not None:
        # Put prediction sets first, so that the column of alternative classes is omitted before
        # them.
        optional = {f"{100 * answers.coverage:g} % set": list(map(_set_text, answers.sets))}
        optional |= {"others": others} if answers.columns.shape[1] > 1 else {}
    room, dropped = width - _needed_width(answers, classes), list[str]()
    extra = list[list[str]]()
    for title, cells in optional.items():
        needed = min(OTHERS, max(len(title), *map(cell_len, cells), 0))
        # Make the column at least as wide as its longest word, so that no word is shortened.
        needed = max([needed, *(Text(word).cell_len for cell in cells for word in cell.split(" "))])
        if any(cells) and room >= needed + GAP:
            table.add_column(title, min_width=needed, overflow="fold")
            extra.append(cells)
            room -= needed + GAP
        elif any(cells):
            dropped.append("other classes" if title == "others" else "prediction sets")
    has_room = answers.columns.shape[1] <= 2 and room >= TEXT_WIDTH + GAP
    row_texts = texts if has_room else [None] * len(answers)
    text_cells = add_text_column(table, row_texts, TEXT_WIDTH)
    numbers = (answers.confidence, answers.probability, answers.known)
    for row, node in enumerate(answers.nodes):
        table.add_row(
            escape(str(node)),
            classes[row],
            *(_number(column[row]) if answers.is_found[row] else "" for column in numbers),
            *(escape(cells[row]) for cells in extra),
            *text_cells[row],
        )
    more = (
        f"{remaining:,} more: write all with --parquet predictions.parquet." if remaining else None
    )
    no_room = NO_ROOM.format(" and the ".join(dropped)) if dropped else None
    notes = more, no_room, answers.note, answers.rows_note, answers.sets_note
    return Group(table, *(Text(line) for line in notes if line))


def written_text(nodes: int, reasons: dict[str, int]) -> str:
    """Return a phrase about the content of a written table.

    >>> written_text(3, {"prediction": 1, "below_confidence": 2})
    'predictions for 3 nodes (2 below --min-confidence).'
    """
    parts = [
        f"{reasons[reason]:,} {what}"
        for reason, what in (
            ("own_label", "with a label"),
            ("ancestor", "with an ancestor of the best class"),
            ("below_confidence", "below --min-confidence"),
            ("unknown_key", "not in the graph"),
        )
        if reasons.get(reason)
    ]
    counts = f" ({', '.join(parts)})" if parts else ""
    return f"predictions for {counted(nodes, 'node')}{counts}."


def _class_cell(answers: "Predictions", row: int, predicted: str | None) -> str:
    label = answers.labels[row]
    if not answers.is_found[row]:
        return "[dim]unknown key[/]"
    if label is None or (answers.ignore_labels and label == predicted):
        return "[dim]abstains[/]" if predicted is None else escape(predicted)
    other = "" if predicted in (None, label) else f", predicted {predicted}"
    if answers.ignore_labels:
        return f"{escape(predicted or 'abstains')} (label {escape(label)})"
    return escape(f"{label} (label){other}")


def _needed_width(answers: "Predictions", classes: list[str]) -> int:
    """Return the total width of the columns that are never omitted; class names wrap at spaces."""
    words = [word for cell in classes for word in Text.from_markup(cell).plain.split()]
    cells = [Text(word).cell_len for word in words]
    keys = [Text(str(node)).cell_len for node in answers.nodes]
    widths = (max([4, *keys]), max([5, *cells]), *map(len, NUMBERS))
    return sum(widths) + GAP * len(widths)


def _number(share: float) -> str:
    """Return a share in percent, or a dash without an estimate."""
    return "–" if isnan(share) else likely(share)


def _others(answers: "Predictions", row: int, is_best: bool) -> str:
    """Return the alternative classes; no line break separates a class from its probability."""
    first = 1 if is_best else 0
    others = zip(answers.top[row][first:], answers.probabilities[row, first:], strict=False)
    return ", ".join(f"{name}\xa0" + likely(share).replace(" ", "\xa0") for name, share in others)


def _set_text(names: tuple[str, ...]) -> str:
    """Return the first classes of a prediction set, and the number of further classes.

    >>> _set_text(("a", "b", "c", "d", "e"))
    'a, b, c, d and 1 more'
    """
    text = ", ".join(names[:SET_SHOWN])
    more = len(names) - SET_SHOWN
    return f"{text} and {more:,} more" if more > 0 else text
