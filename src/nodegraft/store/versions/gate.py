"""Quality gate: refuse a version whose held-out accuracy drops by more than noise."""

from typing import TYPE_CHECKING, Any

from nodegraft.base.errors import GateError

if TYPE_CHECKING:
    from nodegraft.analysis.labels.labels import StoreLabels
    from nodegraft.analysis.preview import Preview

WITH_OVERRIDE = "To apply the change anyway, give a reason: override='…' (--override REASON)."

WITHOUT_PROMOTION = "To review the version before it is live, omit promote=True (--promote)."


def refuse_drop(diff: "Preview", advice: str) -> None:
    """Raise an error if held-out accuracy drops.

    Args:
        diff: The new version compared with the one before it.
        advice: What to do about it.
    """
    objections = diff.objections()
    if objections:
        raise GateError(objections, advice)


def refuse_unmeasured(labels: "StoreLabels", diff: "Preview") -> None:
    """Raise an error if a promotion would lose all held-out nodes, which measure accuracy.

    Args:
        labels: Labels of the version before.
        diff: The new version compared with the one before it.
    """
    num_held_out = sum(map(len, labels.held_out.values()))
    if num_held_out and not diff.before.nodes:
        raise GateError(
            [f"No held-out node is left to measure accuracy; there were {num_held_out:,}."],
            "Make it without promote=True (--promote), and review it.",
        )


def diff_measures(diff: "Preview") -> dict[str, Any]:
    """Return what is stored of a comparison.

    Args:
        diff: The new version compared with the one before it.
    """
    return {
        "before": diff.before.to_json(),
        "after": diff.after.to_json(),
        "asked": diff.asked,
        "new": diff.new.to_json(),
        "flipped": diff.flipped,
        "warnings": diff.warnings(),
    }
