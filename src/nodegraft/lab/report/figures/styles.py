"""Styles of methods in figures: colour, dashes and marker, equal in all figures of a report."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, TypeAlias

from nodegraft.analysis.rendering.drawing import GREY, PALETTE
from nodegraft.lab.report.groups import Groups, merge_settings, ranking, run_counts, unique

PAPERS_METHOD = "hag-meta"
MOST_HIGHLIGHTED = 6

Dashes: TypeAlias = Literal["-", "--", "-.", ":"]
DASHES: tuple[Dashes, ...] = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P")


@dataclass(frozen=True)
class LineStyle:
    """Style of a method in figures. Two styles never differ only in colour."""

    colour: str
    """Colour of `drawing` as ``#RRGGBB``, which the page replaces by a CSS variable."""

    dashes: Dashes
    """Dash pattern of the line, in matplotlib's notation."""

    marker: str
    """Shape of the points, in matplotlib's notation."""

    @property
    def is_coloured(self) -> bool:
        """Whether the style has a colour other than grey."""
        return self.colour != GREY


# Method name -> style.
Styles: TypeAlias = Mapping[str, LineStyle]

DEFAULT_STYLE = LineStyle(GREY, "-", "o")
"""Style of methods that are not highlighted."""


def highlighted_methods(groups: Groups) -> list[str]:
    """Return the methods that figures highlight, in the order of the suite.

    A method is highlighted if it has more than half of the highest number of runs, and so is the
    best of the others. If these are too many methods, the best methods and the paper's method are
    returned instead.

    >>> run = {"summary": {"last_accuracy": 0.5}}
    >>> highlighted_methods({("gentoo", name, "strict"): [run] for name in ("a", "b")})
    ['a', 'b']
    """
    best = ranking(groups)
    counts = run_counts(groups)
    frequent = [name for name in best if 2 * counts[name] > max(counts.values(), default=0)]
    if len(frequent) >= MOST_HIGHLIGHTED:
        names = {*best[: MOST_HIGHLIGHTED - 1], PAPERS_METHOD}
    else:
        names = {*frequent, *[name for name in best if name not in frequent][:1]}
    return [name for name in counts if name in names]


def assign_styles(highlighted: Iterable[Sequence[str]], first: Sequence[str] = ()) -> Styles:
    """Assign a style to every method that a section of a report highlights.

    The paper's method always has the second style. Other methods get styles in this order:
    `first`, then by the number of sections that highlight them. When all colours are used,
    further methods are grey and differ in dashes and markers.

    >>> styles = assign_styles([["a", "b"], ["b", "hag-meta"]])
    >>> [PALETTE.index(styles[name].colour) for name in ("b", "hag-meta", "a")]
    [0, 1, 2]

    Args:
        first: Methods that get the first styles, such as the winner, in this order.
    """
    counts = Counter(chain.from_iterable(highlighted))
    # Sorting is stable, so equally frequent methods keep the order in which sections list them.
    names = unique([*first, *sorted(counts, key=lambda name: -counts[name])])
    if PAPERS_METHOD not in names:
        return {name: _style(place) for place, name in enumerate(names)}
    others = [name for name in names if name != PAPERS_METHOD]
    places = [0, *range(2, len(others) + 1)]
    styles = {name: _style(place) for name, place in zip(others, places, strict=False)}
    return {**styles, PAPERS_METHOD: _style(1)}


def styles_of_section(styles: Styles, groups: Groups, variants: Collection[str] = ()) -> Styles:
    """Return the styles of the methods that one section highlights; others are thin and grey.

    The section highlights methods that have a colour in the report, methods that it highlights
    itself, and variants of one method. Variants exist in this section only, and get colours that
    the section does not use yet.

    >>> run = {"summary": {"last_accuracy": 0.5}}
    >>> groups = {("gentoo", name, "strict"): [run] for name in ("no diffusion", "graft")}
    >>> own = styles_of_section(assign_styles([["graft"]]), groups, ["no diffusion"])
    >>> [PALETTE.index(own[name].colour) for name in ("graft", "no diffusion")]
    [0, 1]

    Args:
        variants: Names of entries that are variants of one method, not separate methods.
    """
    merged = merge_settings(groups)
    highlighted = unique([*highlighted_methods(merged), *highlighted_methods(groups)])
    names = {name for _, name, _ in (*merged, *groups)}
    own_styles = {
        name: style
        for name, style in styles.items()
        if name in names and (style.is_coloured or name in highlighted)
    }
    colours = {style.colour for style in own_styles.values()}
    free = [_style(place) for place, colour in enumerate(PALETTE) if colour not in colours]
    lacking = [name for name in highlighted if name in variants and name not in own_styles]
    return own_styles | dict(zip(lacking, free, strict=False))


def _style(place: int) -> LineStyle:
    colour = PALETTE[place] if place < len(PALETTE) else GREY
    return LineStyle(colour, DASHES[place % len(DASHES)], MARKERS[place % len(MARKERS)])
