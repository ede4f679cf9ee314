"""Which methods a figure brings out: eighteen colours tell nobody anything."""

from dataclasses import dataclass
from itertools import cycle
from typing import Literal

from nodegraft.report.figures.canvas.drawing import GREY, PALETTE
from nodegraft.report.groups import Groups, counts, standing

PAPERS_METHOD = "hag-meta"
MOST = 6

Dashes = Literal["-", "--", "-.", ":"]
DASHES: tuple[Dashes, ...] = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P")


@dataclass(frozen=True)
class Look:
    """How a method is drawn: never by its colour alone."""

    colour: str
    dashes: Dashes
    marker: str


PLAIN = Look(GREY, "-", "o")


def highlighted_styles(groups: Groups) -> dict[str, Look]:
    """The methods that were measured most and the best of the others, each with its look.

    Where all were measured alike: the best ones and the paper's.

    >>> run = {"summary": {"last_accuracy": 0.5}}
    >>> looks = highlighted_styles({("gentoo", name, "strict"): [run] for name in ("a", "b")})
    >>> looks["a"].colour == looks["b"].colour
    False
    """
    best = standing(groups)
    seeds = counts(groups)
    often = [name for name in best if 2 * seeds[name] > max(seeds.values(), default=0)]
    if len(often) >= MOST:
        often = best[: MOST - 1]
        chosen = {*often, PAPERS_METHOD}
    else:
        chosen = {*often, *[name for name in best if name not in often][:1]}
    # In the order of the suite, so that a method looks the same in all figures of it.
    shown = [name for name in seeds if name in chosen]
    looks = map(Look, PALETTE, cycle(DASHES), MARKERS)
    return dict(zip(shown, looks, strict=False))
