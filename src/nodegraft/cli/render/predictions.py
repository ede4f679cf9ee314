"""Predictions of a store as a table and as JSON, and the explanation of one prediction."""

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.base.counting import counted
from nodegraft.cli.render.values import NodeTable, Texts, add_text_column, likely, text_line

if TYPE_CHECKING:
    from nodegraft.analysis.predictions import Predictions

OTHERS = 24
"""Largest reserved width of the column of other classes."""

MAX_SHOWN = 50
"""At most this many predictions are shown; more belong in a file."""

TEXT_WIDTH = 9
"""Smallest width of the column of texts, beside three columns of numbers."""

GAP = 2
"""Characters between two columns."""

NUMBERS = ("confidence", "probability", "known")

NO_ROOM = "No room for the {}: widen the terminal, or use --json."

SET_SHOWN = 4
"""At most this many classes of a prediction set are shown."""


def predictions_table(
    answers: "Predictions", texts: Texts, left: int = 0, width: int = 80
) -> RenderableType:
    """Return one row for each node, with confidence, probability and known.

    A node with a label shows it, and the prediction where that differs; one without a class shows
    why. With more than one alternative class there is no room for texts. Where a line is too short
    for all columns, texts are dropped first, then alternative classes.

    Args:
        left: Number of further nodes, which are not shown.
    """
    table = NodeTable(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("node", overflow="fold", min_width=len("node"))
    table.add_column("class", overflow="fold", min_width=len("class"))
    for name in NUMBERS:
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    predictions = answers.predictions
    classes = [_class_cell(answers, row, predictions[row]) for row in range(len(answers))]
    others = [_others(answers, row, predictions[row]) for row in range(len(answers))]
    optional = {"others": others}
    if answers.sets is not None and answers.coverage is not None:
        # Sets come first: where the line is too short, the other classes are dropped.
        optional = {f"{100 * answers.coverage:g} % set": list(map(_set_text, answers.sets))}
        optional |= {"others": others} if answers.columns.shape[1] > 1 else {}
    room, dropped = width - _needed_width(answers, classes), list[str]()
    extra = list[list[str]]()
    for title, cells in optional.items():
        needed = min(OTHERS, max(len(title), *map(len, cells), 0))
        # No word may be wider than its column, which would cut it.
        needed = max([needed, *(Text(word).cell_len for cell in cells for word in cell.split(" "))])
        if any(cells) and room >= needed + GAP:
            table.add_column(title, min_width=needed, overflow="fold")
            extra.append(cells)
            room -= needed + GAP
        elif any(cells):
            dropped.append("other classes" if title == "others" else "prediction sets")
    has_room = answers.columns.shape[1] <= 2 and room >= TEXT_WIDTH + GAP
    shown = texts if has_room else [None] * len(answers)
    text_cells = add_text_column(table, shown, TEXT_WIDTH)
    numbers = (answers.confidence, answers.probability, answers.known)
    for row, node in enumerate(answers.nodes):
        table.add_row(
            escape(str(node)),
            classes[row],
            *(_number(column[row]) if answers.is_found[row] else "" for column in numbers),
            *(escape(cells[row]) for cells in extra),
            *text_cells[row],
        )
    more = f"{left:,} more: write all with --parquet predictions.parquet." if left else None
    no_room = NO_ROOM.format(" and the ".join(dropped)) if dropped else None
    return Group(
        table, *(Text(line) for line in (more, no_room, answers.note, answers.sets_note) if line)
    )


def written_text(nodes: int, reasons: dict[str, int]) -> str:
    """Return what a written table contains.

    >>> written_text(3, {"prediction": 1, "below_confidence": 2})
    'predictions for 3 nodes (2 below --min-confidence).'
    """
    parts = [
        f"{reasons[reason]:,} {what}"
        for reason, what in (
            ("own_label", "with a label"),
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
    """Return the width of the columns that are never dropped; class names wrap at spaces."""
    words = [word for cell in classes for word in Text.from_markup(cell).plain.split()]
    cells = [Text(word).cell_len for word in words]
    keys = [Text(str(node)).cell_len for node in answers.nodes]
    widths = (max([4, *keys]), max([5, *cells]), *map(len, NUMBERS))
    return sum(widths) + GAP * len(widths)


def _number(share: float) -> str:
    """Return a share in percent; a dash where there is no estimate."""
    return "–" if isnan(share) else likely(share)


def _others(answers: "Predictions", row: int, predicted: str | None) -> str:
    """Return the alternative classes; a number stays on the line of its class."""
    first = 0 if predicted is None else 1
    others = zip(answers.top[row][first:], answers.probabilities[row, first:], strict=False)
    return ", ".join(f"{name}\xa0" + likely(share).replace(" ", "\xa0") for name, share in others)


def _set_text(names: tuple[str, ...]) -> str:
    """Return the first classes of a prediction set, and how many more there are.

    >>> _set_text(("a", "b", "c", "d", "e"))
    'a, b, c, d and 1 more'
    """
    shown = ", ".join(names[:SET_SHOWN])
    more = len(names) - SET_SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown


MAX_BAR = 12
"""Largest length of a bar, in characters."""

BAR_GAP = 3
"""Characters between two columns."""

SMALL = 0.05
"""Signals whose lead is below this share of the largest lead are summed up in one row."""

NOTHING = 0.005
"""Numbers below this are rounded to 0.00."""


@dataclass(frozen=True)
class ExplainedNode:
    """A node with its label and text."""

    key: object
    """Key of the node."""

    label: str | None
    """Class of its label; None without a label."""

    text: str | None
    """Text of the node; None without one."""


def explanation_lines(
    node: ExplainedNode, explanation: dict[str, Any], width: int = 80
) -> RenderableType:
    """Return prediction and second class, their signals, and the labels that contribute most.

    Args:
        width: Characters of a line; bars are shortened or dropped where it is too short.
    """
    if "signals" not in explanation:
        return Text("\n".join(f"{name}: {value}" for name, value in explanation.items()))
    parts: list[RenderableType] = [
        _head(node, explanation),
        *([text_line(node.text)] if node.text else []),
        _signals(explanation["signals"], explanation["answer"], explanation["runner_up"], width),
    ]
    labels = [
        label
        for label in explanation["labels"]
        if label["similarity"] + label["diffusion"] >= NOTHING
    ]
    if labels:
        parts.append(_labels(node.key, explanation["answer"], labels))
    unlabelled = explanation["unlabelled_nodes"]
    if abs(unlabelled) >= NOTHING:
        like = f"Unlabelled nodes similar to {explanation['answer']} add {unlabelled:.2f}."
        parts.append(Text(like))
    parts.append(Text(f"Edges of {node.key}: {_edges(explanation['relations'])}."))
    return Group(*parts)


def _edges(relations: list[dict[str, Any]]) -> str:
    if len(relations) == 1:
        return f"{relations[0]['neighbours']:,}"
    counts = [
        f"{relation['neighbours']:,} {relation['kind']} (weight {relation['worth']:.2f})"
        for relation in relations
        if relation["neighbours"]
    ]
    return ", ".join(counts) or "none"


def _head(node: ExplainedNode, explanation: dict[str, Any]) -> Text:
    answer, other = explanation["answer"], explanation["runner_up"]
    probability, second = (
        likely(explanation["probability"]),
        likely(explanation["runner_up_probability"]),
    )
    if answer == other:
        head = f"{node.key} is predicted to be {answer}, the only class there is."
    else:
        head = (
            f"{node.key} is predicted to be {answer} (probability {probability}) rather than "
            f"{other} ({second})."
        )
    known, is_open = explanation["known"], explanation["world"] == "open"
    if not is_open:
        factors = "the probability, because the world is closed"
    elif known is None:
        factors = "the probability"
    else:
        factors = f"probability {probability} × known {likely(known)}"
    head += f" Confidence {likely(explanation['confidence'])}: {factors}."
    # In a closed world every node belongs to a known class.
    if is_open and known is not None and known < 1 / 2:
        head += f" It probably belongs to no known class: {likely(1 - known)}."
    if node.label is not None:
        differs = "" if node.label == answer else ", which the prediction contradicts"
        head += f" Its label is {node.label}{differs}."
    if explanation["note"]:
        head += f" {explanation['note']}"
    return Text(head)


def _signals(signals: list[dict[str, Any]], answer: str, other: str, width: int) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("signal", no_wrap=True)
    alone = answer == other
    headings = (answer,) if alone else (answer, other, "lead")
    for heading in headings:
        table.add_column(escape(heading), justify="right", overflow="fold", min_width=6)
    names = max(len(signal["signal"]) for signal in signals)
    columns = sum(max(len(heading), 6) + BAR_GAP for heading in headings)
    longest = max(0, min(MAX_BAR, width - names - columns - 2 * BAR_GAP))
    if not alone and longest:
        table.add_column("", no_wrap=True)
    rows = [
        (signal["signal"], signal["for"], 0.0 if alone else signal["for_runner_up"])
        for signal in signals
    ]
    rows.sort(key=lambda row: row[2] - row[1])
    most = max(abs(own - its) for _, own, its in rows)
    least = max(SMALL * most, NOTHING)
    large = [row for row in rows if abs(row[1] - row[2]) >= least]
    small = [row for row in rows if abs(row[1] - row[2]) < least]
    together = [(f"{len(small)} other signals", *_sums(small))] if small else []
    for name, own, its in [*large, *together]:
        _add(table, name, own, its, _bar(own - its, most, longest))
    table.add_section()
    _add(table, "total", *_sums(rows), "")
    return table


def _add(table: Table, name: str, own: float, its: float, bar: str | Text) -> None:
    numbers = [_score(own), _score(its), _score(own - its, "+")]
    table.add_row(escape(name), *[*numbers, bar][: len(table.columns) - 1])


def _sums(rows: list[tuple[str, float, float]]) -> tuple[float, float]:
    return sum(own for _, own, _ in rows), sum(its for _, _, its in rows)


def _bar(lead: float, most: float, longest: int) -> Text:
    # The sign of the number tells the same without colours.
    length = 0 if abs(lead) < NOTHING else round(longest * abs(lead) / most)
    return Text("█" * length, style="green" if lead > 0 else "red")


def _score(value: float, sign: str = "-") -> str:
    # Avoid -0.00.
    return f"{0.0 if abs(value) < NOTHING else value:{sign}.2f}"


def _labels(node: object, answer: str, labels: list[dict[str, Any]]) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column(f"labels of {escape(answer)} that contribute most", overflow="fold")
    table.add_column("by features", justify="right", no_wrap=True)
    table.add_column("by edges", justify="right", no_wrap=True)
    for label in labels:
        itself = " (this node)" if label["node"] == node else ""
        cells = _score(label["similarity"]), _score(label["diffusion"])
        table.add_row(escape(str(label["node"])) + itself, *cells)
    return table
