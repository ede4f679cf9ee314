"""What a version did, in a few words."""

from typing import Any

from nodegraft.analysis.version import Version
from nodegraft.base.counting import counted

SHOWN = 8
"""So many classes are named; the others are counted."""

CHANGES = {
    "added": ("node", "added"),
    "removed": ("node", "removed"),
    "changed": ("node", "changed"),
    "edges_added": ("edge", "added"),
    "edges_removed": ("edge", "removed"),
    "labels_lost": ("label", "lost"),
}
"""What other tables did -> of what, and how it is said."""


def what_it_did(version: Version) -> str:
    """The change, without the keys of its nodes.

    Args:
        version: The version.
    """
    detail: dict[str, Any] = version.detail
    match version.action:
        case "add" | "relabel":
            return f"{version.action} {_counts(detail['classes'])}"
        case "label":
            return f"label {_counts(detail['more'])}"
        case "unlabel":
            return f"unlabel {counted(len(detail['keys']), 'node')}"
        case "remove":
            return f"remove {', '.join(detail['names'])}"
        case "rename":
            return f"rename {detail['old']} to {detail['new']}"
        case "merge":
            return f"merge {', '.join(detail['names'])} into {detail['into']}"
        case "split":
            return f"split {detail['name']} into {_counts(detail['parts'])}"
        case "grow" | "sync":
            return f"{version.action}: {_changes(detail)}"
        case "refit":
            return f"refit on {counted(version.measures['labels'], 'label')}"
        case "undo":
            return f"undo version {detail['version']}"
        case "discard":
            return f"discard {numbered(detail['versions'])}"
        case "prune":
            return f"prune {numbered(detail['versions'])}"
        case "purge":
            return f"purge {counted(detail['nodes'], 'node')} from version {detail['instead_of']}"
    return version.action


def _changes(detail: dict[str, int]) -> str:
    told = [
        f"{counted(detail[name], noun)} {what}"
        for name, (noun, what) in CHANGES.items()
        if detail.get(name)
    ]
    return ", ".join(told) or "nothing new"


def _counts(classes: dict[str, list[Any]]) -> str:
    shown = [f"{name} ({len(keys)})" for name, keys in list(classes.items())[:SHOWN]]
    more = len(classes) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def numbered(numbers: list[int]) -> str:
    """Versions, in few words.

    >>> numbered([2, 3, 4, 7])
    'versions 2-4, 7'

    Args:
        numbers: Theirs, ascending.
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return f"{'version' if len(numbers) == 1 else 'versions'} {', '.join(shown)}"
