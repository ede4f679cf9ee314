"""Search for nodes by words in their keys and texts, the best matches first."""

from collections.abc import Iterable

from nodegraft.graph.keys import Key

EXACT, PREFIX = 0, 1
"""Ranks of a node whose key is the words, or starts with them."""

WORD_START, ANYWHERE = 2, 3
"""Ranks of a node in which every word is the start of a word, or is found anywhere."""


def rank(words: str, key: Key, text: str) -> int | None:
    """Return how well a node matches, 0 for the best; None if a word is missing.

    >>> [rank("felt", key, "a felt hat") for key in ("felt", "felt-2", "p7")]
    [0, 1, 2]
    >>> rank("elt", "p7", "a felt hat"), rank("wool", "p7", "a felt hat")
    (3, None)

    Args:
        words: Words with blanks between them, in lower case.
    """
    name = str(key).casefold()
    if name.startswith(words):
        return EXACT if name == words else PREFIX
    content = f" {name} {text.casefold()}"
    wanted = words.split()
    if not all(word in content for word in wanted):
        return None
    return WORD_START if all(f" {word}" in content for word in wanted) else ANYWHERE


def best_matches(words: str, nodes: Iterable[tuple[Key, str]], limit: int) -> list[Key]:
    """Return the nodes that match best: by rank, and in their order within a rank.

    Args:
        words: Words with blanks between them; case is ignored.
    """
    wanted = " ".join(words.casefold().split())
    found: list[list[Key]] = [[], [], [], []]
    for key, text in nodes:
        place = rank(wanted, key, text)
        # Later nodes can only be better matches, so each rank keeps the first ones.
        if place is not None and len(found[place]) < limit:
            found[place].append(key)
    return [key for keys in found for key in keys][:limit]
