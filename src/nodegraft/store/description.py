"""What a version did, in a few words."""

from typing import Any

from nodegraft.store.journal import Version

SHOWN = 8
"""So many classes are named; the others are counted."""


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
            return f"unlabel {len(detail['keys'])} nodes"
        case "remove":
            return f"remove {', '.join(detail['names'])}"
        case "rename":
            return f"rename {detail['old']} to {detail['new']}"
        case "merge":
            return f"merge {', '.join(detail['names'])} into {detail['into']}"
        case "split":
            return f"split {detail['name']} into {_counts(detail['parts'])}"
        case "grow" | "sync":
            told = {name.replace("_", " "): count for name, count in detail.items() if count}
            return f"{version.action}: " + ", ".join(f"{n:,} {name}" for name, n in told.items())
        case "undo":
            return f"undo version {detail['version']}"
    return version.action


def _counts(classes: dict[str, list[Any]]) -> str:
    shown = [f"{name} ({len(keys)})" for name, keys in list(classes.items())[:SHOWN]]
    more = len(classes) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
