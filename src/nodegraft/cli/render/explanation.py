"""Rendering of the explanation of a prediction as text and tables."""

from typing import Any

from rich.box import SIMPLE
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.base.counting import counted
from nodegraft.cli.render.values import likely, text_line

MAX_BAR = 12
"""Maximum length of a bar in characters."""

GAP = 3
"""Number of characters between two columns."""

SMALL = 0.05
"""Signals whose lead is below this share of the largest lead are grouped in one row."""

NOTHING = 0.005
"""Threshold below which a number is shown as 0.00."""


def explanation_lines(
    node: object,
    label: str | None,
    text: str | None,
    explanation: dict[str, Any],
    width: int = 80,
) -> RenderableType:
    """Return the two most probable classes, their signals, and the labels that contribute most.

    Args:
        node: Key of the node.
        label: Label of the node; None without a label.
        text: Text of the node; None without a text.
        width: Line width in characters; bars are shortened or omitted on short lines.
    """
    if "signals" not in explanation:
        return Text("\n".join(f"{name}: {value}" for name, value in explanation.items()))
    parts: list[RenderableType] = [
        _head(node, label, explanation),
        *([text_line(text)] if text else []),
        _signals(explanation["signals"], explanation["answer"], explanation["runner_up"], width),
    ]
    labels = [
        part for part in explanation["labels"] if part["similarity"] + part["diffusion"] >= NOTHING
    ]
    if labels:
        parts.append(_labels(node, explanation["answer"], labels))
    unlabelled = explanation["unlabelled_nodes"]
    if abs(unlabelled) >= NOTHING:
        like = f"Unlabelled nodes similar to {explanation['answer']} add {unlabelled:.2f}."
        parts.append(Text(like))
    parts.append(Text(f"Edges of {node}: {_edges(explanation['relations'])}."))
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


def _head(node: object, label: str | None, explanation: dict[str, Any]) -> Text:
    answer, other = explanation["answer"], explanation["runner_up"]
    probability, second = (
        likely(explanation["probability"]),
        likely(explanation["runner_up_probability"]),
    )
    if answer == other:
        head = f"{node} is predicted to be {answer}, the only class there is."
    else:
        head = (
            f"{node} is predicted to be {answer} (probability {probability}) rather than "
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
    # In a closed world, every node belongs to a known class.
    if is_open and known is not None and known < 1 / 2:
        head += f" It probably belongs to no known class: {likely(1 - known)}."
    if label is not None:
        differs = "" if label == answer else ", which the prediction contradicts"
        head += f" Its label is {label}{differs}."
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
    columns = sum(max(cell_len(heading), 6) + GAP for heading in headings)
    longest = max(0, min(MAX_BAR, width - names - columns - 2 * GAP))
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
    together = [(counted(len(small), "other signal"), *_sums(small))] if small else []
    for name, own, its in [*large, *together]:
        _add(table, name, own, its, _bar(own - its, most, longest))
    table.add_section()
    _add(table, "total", *_sums(rows), "")
    return table


def _add(table: Table, name: str, own: float, its: float, bar: str | Text) -> None:
    numbers = [_number(own), _number(its), _number(own - its, "+")]
    table.add_row(escape(name), *[*numbers, bar][: len(table.columns) - 1])


def _sums(rows: list[tuple[str, float, float]]) -> tuple[float, float]:
    return sum(own for _, own, _ in rows), sum(its for _, _, its in rows)


def _bar(lead: float, most: float, longest: int) -> Text:
    # On terminals without colours, the sign of the number shows the same information.
    length = 0 if abs(lead) < NOTHING else round(longest * abs(lead) / most)
    return Text("█" * length, style="green" if lead > 0 else "red")


def _number(value: float, sign: str = "-") -> str:
    # Avoid showing -0.00.
    return f"{0.0 if abs(value) < NOTHING else value:{sign}.2f}"


def _labels(node: object, answer: str, labels: list[dict[str, Any]]) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column(f"labels of {escape(answer)} that contribute most", overflow="fold")
    table.add_column("by features", justify="right", no_wrap=True)
    table.add_column("by edges", justify="right", no_wrap=True)
    through = [", ".join(map(str, label.get("through", ()))) for label in labels]
    if any(through):
        table.add_column("both linked to", overflow="fold")
    for label, nodes in zip(labels, through, strict=True):
        itself = " (this node)" if label["node"] == node else ""
        cells = _number(label["similarity"]), _number(label["diffusion"])
        more = [escape(nodes)] if any(through) else []
        table.add_row(escape(str(label["node"])) + itself, *cells, *more)
    return table
