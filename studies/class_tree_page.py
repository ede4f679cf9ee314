"""Page of :mod:`studies.class_tree`."""

from collections.abc import Sequence

from studies.record_file import Record

DESIGN = ("gentoo", "wordnet")
"""Graphs on whose inner streams the way to borrow was chosen."""

HELD_OUT = ("linux-sources", "metamath-theorems")
"""Graphs whose test streams were run once, after the choice."""

PLAIN = "nothing"
"""Name of the way in which no class borrows."""


def page_text(records: Sequence[Record]) -> str:
    """Return the page."""
    return ""
