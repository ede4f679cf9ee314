"""Format numbers, lists and names as text for messages and Markdown."""

import re
from collections.abc import Iterable


def counted(number: int, noun: str) -> str:
    """Return a number with its noun in the singular or plural.

    >>> counted(1, "edge"), counted(1200, "node"), counted(2, "class")
    ('1 edge', '1,200 nodes', '2 classes')
    """
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{ending}"


def listed(names: Iterable[str], most: int = 8) -> str:
    """Return the first `most` names as text, followed by the number of omitted names.

    >>> listed("abc", most=2)
    'a, b and 1 more'
    """
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def escape_markdown(text: str) -> str:
    r"""Escape Markdown and HTML in a text, so that it fits into one cell of a table.

    >>> print(escape_markdown("a|b <c>"))
    a\|b \<c\>
    """
    return re.sub(r"([\\`*_|<>\[\]#~])", r"\\\1", " ".join(text.split()))
