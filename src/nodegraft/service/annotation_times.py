"""Times of annotations, kept in the keys of requests, so that no older event undoes a newer one."""

from collections.abc import Iterable, Mapping

from nodegraft.analysis.version import Version
from nodegraft.graph.keys import Key

PREFIX = "label-studio"
LONGEST = 40
"""Characters of a time; a longer text is not taken for one."""


def event_key(times: Iterable[str | None], content: str) -> str | None:
    """Return the key of a request that delivers an event; None if it does not say when it was.

    Args:
        times: When each annotation was updated, as Label Studio writes it.
        content: A hash of the request.
    """
    found = list(times)
    known = [time for time in found if time and len(time) <= LONGEST and " " not in time]
    if not found or len(known) < len(found):
        return None
    # The oldest of several, so that nothing newer than any of them is left out later.
    return f"{PREFIX} {min(known, key=_sortable)} {content}"


def delivered_late(versions: Iterable[Version], times: Mapping[Key, str | None]) -> set[Key]:
    """Return the nodes to which a newer annotation than the one at hand has given a label.

    Args:
        versions: All versions of the store.
        times: Node -> when its annotation was updated; None where that is not known.
    """
    late = set[Key]()
    for version in versions:
        prefix, *rest = version.measures.get("request", {}).get("key", "").split(" ")
        if prefix != PREFIX or len(rest) != 2:
            continue
        classes = version.detail.get("more") or version.detail.get("classes") or {}
        for node in (node for nodes in classes.values() for node in nodes):
            time = times.get(node)
            if time and _sortable(time) < _sortable(rest[0]):
                late.add(node)
    return late


def _sortable(time: str) -> str:
    """Return a time as text that sorts as times do, with and without fractions of a second."""
    return time.removesuffix("Z")
