"""What a store answers, in a terminal."""

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.cli.display.shares import likely
from nodegraft.cli.display.texts import Texts, add_text_column
from nodegraft.store.answers import Answers

OTHERS = 24
"""So many characters are for what else a node may be, if so many are needed."""

MOST_ANSWERS = 50
"""So many answers are shown; more belong in a file."""


def answers_table(answers: Answers, texts: Texts, left: int = 0) -> RenderableType:
    """One row for each node; where the answer is kept back, what it might have been.

    Every number says how likely the node is of a class, among all that it could be: also of none
    that is known.

    Args:
        answers: What the store said.
        texts: Of the nodes that are shown.
        left: How many more nodes were asked about.
    """
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("node", overflow="fold")
    table.add_column("class", overflow="fold")
    table.add_column("sure", justify="right", no_wrap=True)
    given = answers.answers
    others = [_others(answers, row) for row in range(len(given))]
    if any(others):
        # The text yields first: it can be cut anywhere.
        table.add_column("or perhaps", min_width=min(OTHERS, max(map(len, others))))
    told = add_text_column(table, texts)
    for row, (node, answer) in enumerate(zip(answers.nodes, given, strict=True)):
        table.add_row(
            escape(str(node)),
            "[dim]abstains[/]" if answer is None else escape(answer),
            likely(answers.confidence[row]),
            *([escape(others[row])] if any(others) else []),
            *told[row],
        )
    if not left:
        return table
    more = f"And {left:,} more: --out answers.parquet writes all to a file."
    return Group(table, Text(more))


def _others(answers: Answers, row: int) -> str:
    """What else a node may be; a number stays on the line of its class."""
    first = 0 if answers.answers[row] is None else 1
    shares = answers.probabilities[row, first:] * answers.known[row]
    others = zip(answers.classes[row][first:], shares, strict=True)
    return ", ".join(f"{name}\xa0" + likely(share).replace(" ", "\xa0") for name, share in others)
