"""Names of classes: which are allowed, and which are probably meant to be the same."""

import unicodedata
from collections.abc import Iterable
from typing import Any

import numpy as np

from nodegraft.base.errors import ClassNameError, SimilarNameError

MOST_CHARACTERS = 200
"""A class name is at most so long."""


def class_name(name: Any) -> str:
    """Return a class name as it is, or refuse one that no class may have.

    Numbers are not turned into text: 1 and "1" would become one class.

    >>> class_name("e-bikes")
    'e-bikes'

    Raises:
        ClassNameError: Where it is empty, begins or ends with a blank, is too long or has control
            or invisible characters.
    """
    if not isinstance(name, str) or not name.strip():
        hint = f": write {str(name)!r}" if isinstance(name, int | np.integer) else ""
        raise ClassNameError(f"A class name is text that is not empty, not {name!r}{hint}.")
    text = str(name)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ClassNameError(f"{name!r} cannot be written down: {error}.") from error
    if len(text) > MOST_CHARACTERS:
        raise ClassNameError(
            f"A class name has at most {MOST_CHARACTERS} characters; {text[:20]!r}… has "
            f"{len(text):,}."
        )
    if has_control_characters(text):
        raise ClassNameError(
            f"The class name {text!r} has a control or invisible character: leave it out."
        )
    if text != text.strip():
        raise ClassNameError(
            f"The class name {text!r} begins or ends with a blank: write {text.strip()!r}. For a "
            "table of labels, repair=True (--repair) strips such blanks."
        )
    return text


def has_control_characters(text: str) -> bool:
    r"""Tell whether a text has characters such as NUL and line breaks, or invisible ones.

    Names that differ by an invisible character (zero-width, direction of writing) look the same.

    >>> has_control_characters("e-bikes"), has_control_characters("e\u200bbikes")
    (False, True)
    """
    return any(unicodedata.category(letter) in ("Cc", "Cf") for letter in text)


def compared_name(name: str) -> str:
    """Return what names that are probably meant to be the same have in common.

    >>> compared_name("E-Bikes  large") == compared_name("e-bikes large")
    True
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    return "".join(folded.split())


def likely_duplicates(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return groups of names that differ only by case, blanks or Unicode normalisation.

    >>> likely_duplicates(["hats", "shoes", "Hats"])
    [('hats', 'Hats')]
    """
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        groups.setdefault(compared_name(name), []).append(name)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def refuse_likely_duplicates(new: Iterable[str], known: Iterable[str]) -> None:
    """Refuse new names that are probably another spelling of a name."""
    added = list(new)
    for group in likely_duplicates([*known, *added]):
        if not set(added).isdisjoint(group):
            *others, name = group
            raise SimilarNameError(name, others[0])
