"""What a model is not for, and what nobody has measured: said as plainly as the rest."""

from nodegraft.analysis.card.card import Card

SHOWN = 8
"""So many classes are named; the others are counted."""

FEW = 30
"""With fewer held-out nodes than this a share says little."""


def limits(card: Card) -> list[str]:
    """A sentence or two for each limit.

    Args:
        card: What there is to say.
    """
    few = [one.name for one in card.classes if 0 < one.held_out.asked < FEW]
    found = [
        "It predicts only the classes above: a node of another class gets one of these"
        f"{_abstaining(card)}.",
        "Held-out nodes are nodes that somebody chose to label. Others may be harder, which the "
        "intervals do not show.",
        "Every change was checked on the same held-out nodes, so these numbers are slightly "
        "optimistic; more so where near-duplicates of a node are among the labels learned.",
        "Not measured: accuracy for groups of nodes within a class, accuracy on a graph that has "
        "changed since, and the cost of a wrong prediction. Do not let it decide alone where a "
        "wrong prediction harms somebody.",
    ]
    if few:
        found.insert(0, f"Measured on fewer than {FEW} nodes, so only roughly: {_named(few)}.")
    if card.unmeasured and card.held_out.asked:
        found.insert(0, f"Not measured, because no node is held out: {_named(card.unmeasured)}.")
    return found


def _abstaining(card: Card) -> str:
    if card.reliability is None:
        return ""
    return ", unless it abstains; how often it does so was not measured"


def _named(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
