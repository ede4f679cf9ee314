"""Why a node is answered as it is, in a terminal."""

from dataclasses import dataclass
from typing import Any

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.cli.display.shares import likely
from nodegraft.cli.display.texts import text_line

BAR = 12
"""The longest bar, in characters."""

SMALL = 0.05
"""Signals whose lead is less than this share of the largest one are shown together."""

NOTHING = 0.005
"""What is less than this would be shown as 0.00."""


@dataclass(frozen=True)
class Asked:
    """A node, and what the store says of it besides the explanation."""

    node: object
    """Its key."""

    label: str | None
    """The class that it is labelled as, if it is."""

    text: str | None
    """What can be read about it, if anything."""


def explanation(asked: Asked, told: dict[str, Any]) -> RenderableType:
    """The answer and the runner-up, what spoke for either, and where it came from.

    Args:
        asked: The node.
        told: What the method said.
    """
    if "signals" not in told:
        return Text("\n".join(f"{name}: {value}" for name, value in told.items()))
    parts: list[RenderableType] = [
        _head(asked, told),
        *([text_line(asked.text)] if asked.text else []),
        _signals(told["signals"], told["answer"], told["runner_up"]),
    ]
    labels = [one for one in told["labels"] if one["similarity"] + one["diffusion"] >= NOTHING]
    if labels:
        parts.append(_labels(asked.node, told["answer"], labels))
    unlabelled = told["unlabelled_nodes"]
    if abs(unlabelled) >= NOTHING:
        like = f"Nodes without a label that look like {told['answer']} give {unlabelled:.2f} more."
        parts.append(Text(like))
    parts.append(Text(f"Edges of {asked.node}: {_edges(told['relations'])}."))
    return Group(*parts)


def _edges(kinds: list[dict[str, Any]]) -> str:
    if len(kinds) == 1:
        return f"{kinds[0]['neighbours']:,}"
    counts = [
        f"{one['neighbours']:,} {one['kind']} (weight {one['worth']:.2f})"
        for one in kinds
        if one["neighbours"]
    ]
    return ", ".join(counts) or "none"


def _head(asked: Asked, told: dict[str, Any]) -> Text:
    answer, other = told["answer"], told["runner_up"]
    probability, second = likely(told["probability"]), likely(told["runner_up_probability"])
    if answer == other:
        head = f"{asked.node} is predicted to be {answer}, the only class there is."
    else:
        head = (
            f"{asked.node} is predicted to be {answer} (probability {probability}) rather than "
            f"{other} ({second})."
        )
    known, is_open = told["known"], told["world"] == "open"
    if not is_open:
        factors = "the probability, as the world is declared closed"
    elif known is None:
        factors = "the probability"
    else:
        factors = f"probability {probability} × known {likely(known)}"
    head += f" Confidence {likely(told['confidence'])}: {factors}."
    # A closed world says that every node belongs to a known class.
    if is_open and known is not None and known < 1 / 2:
        head += f" It probably belongs to no known class: {likely(1 - known)}."
    if asked.label is not None:
        differs = "" if asked.label == answer else ", which the prediction contradicts"
        head += f" Its label is {asked.label}{differs}."
    if told["note"]:
        head += f" {told['note']}"
    return Text(head)


def _signals(signals: list[dict[str, Any]], answer: str, other: str) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("what speaks for it", no_wrap=True)
    alone = answer == other
    for heading in (answer,) if alone else (answer, other, "lead"):
        table.add_column(escape(heading), justify="right", overflow="fold", min_width=5)
    if not alone:
        table.add_column("", no_wrap=True)
    rows = [(one["signal"], one["for"], 0.0 if alone else one["for_runner_up"]) for one in signals]
    rows.sort(key=lambda row: row[2] - row[1])
    most = max(abs(own - its) for _, own, its in rows)
    least = max(SMALL * most, NOTHING)
    large = [row for row in rows if abs(row[1] - row[2]) >= least]
    small = [row for row in rows if abs(row[1] - row[2]) < least]
    together = [(f"{len(small)} others", *_sums(small))] if small else []
    for name, own, its in [*large, *together]:
        _add(table, name, own, its, "" if alone else _bar(own - its, most))
    table.add_section()
    _add(table, "all together", *_sums(rows), "")
    return table


def _add(table: Table, name: str, own: float, its: float, bar: str | Text) -> None:
    numbers = [_number(own), _number(its), _number(own - its, "+")]
    table.add_row(escape(name), *[*numbers, bar][: len(table.columns) - 1])


def _sums(rows: list[tuple[str, float, float]]) -> tuple[float, float]:
    return sum(own for _, own, _ in rows), sum(its for _, _, its in rows)


def _bar(lead: float, most: float) -> Text:
    # The sign of the number says the same to whoever sees no colours.
    return Text("█" * round(BAR * abs(lead) / most), style="green" if lead > 0 else "red")


def _number(value: float, sign: str = "-") -> str:
    # Never -0.00.
    return f"{0.0 if abs(value) < NOTHING else value:{sign}.2f}"


def _labels(node: object, answer: str, labels: list[dict[str, Any]]) -> Table:
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column(f"labels of {escape(answer)} that count most", overflow="fold")
    table.add_column("by features", justify="right", no_wrap=True)
    table.add_column("by edges", justify="right", no_wrap=True)
    for one in labels:
        itself = " (this node)" if one["node"] == node else ""
        cells = _number(one["similarity"]), _number(one["diffusion"])
        table.add_row(escape(str(one["node"])) + itself, *cells)
    return table
