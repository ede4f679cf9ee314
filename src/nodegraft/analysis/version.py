"""Records of a store's history: versions with their held-out accuracy, and promotions."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from nodegraft.base.counting import counted, listed
from nodegraft.base.tabular import summary_html

CHANGES = {
    "added": ("node", "added"),
    "removed": ("node", "removed"),
    "changed": ("node", "changed"),
    "edges_added": ("edge", "added"),
    "edges_removed": ("edge", "removed"),
    "labels_lost": ("label", "lost"),
}
"""Name of a count in a version's detail -> noun and verb that describe the count in a sentence."""

PRUNING = ("prune", "purge")
"""Actions that delete the stored objects of other versions, which are listed in their detail."""


@dataclass(frozen=True)
class AccuracyCount:
    """Number of predicted nodes with a known class, and number of correct predictions."""

    total: int
    """Number of nodes that were predicted."""

    right: int
    """Number of correct predictions."""

    @property
    def share(self) -> float | None:
        """Accuracy: the share of correct predictions; None without nodes."""
        return self.right / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval of the accuracy, as if the nodes were a random sample."""
        # Import here, so that help texts and version lists do not wait for NumPy.
        from nodegraft.evaluation.metrics import share_interval

        return share_interval(self.right, self.total) if self.total else None

    def __str__(self) -> str:
        if self.interval is None:
            return "not measured"
        low, high = (100 * end for end in self.interval)
        return (
            f"{100 * self.right / self.total:.1f} % ({self.right:,} of {self.total:,}; "
            f"95 % interval {low:.1f} to {high:.1f} %)"
        )

    def to_json(self) -> dict[str, Any]:
        """Return counts, accuracy and its interval as plain JSON."""
        return {**asdict(self), "share": self.share, "interval": self.interval}


@dataclass(frozen=True)
class StateNames:
    """Names of the stored objects of a version."""

    graph: str
    """Name of the stored graph."""

    labels: str
    """Name of the stored labels."""

    model: str
    """Name of the stored model."""

    texts: str | None
    """Name of the stored node texts; None without texts."""

    @property
    def all(self) -> tuple[str, ...]:
        """Names of all stored objects of the version."""
        names = (self.graph, self.labels, self.model, self.texts)
        return tuple(name for name in names if name is not None)


@dataclass(frozen=True, repr=False)
class Version:
    """State of a store after one change."""

    number: int
    """Number of the version; the first is 1."""

    parent: int | None
    """Number of the version that the change was applied to; None for the first version."""

    action: str
    """Name of the change: ``init``, ``add``, ``undo`` …"""

    detail: dict[str, Any]
    """Arguments of the change as plain JSON, from which the change can be replayed."""

    by: str
    """Author of the change."""

    note: str
    """Reason for the change, as given by the author."""

    at: datetime
    """Time of the change, in UTC."""

    graph: str
    """Name of the stored graph."""

    labels: str
    """Name of the stored labels."""

    model: str
    """Name of the stored model."""

    measures: dict[str, Any]
    """Accuracy before and after the change, and other records of it, as plain JSON."""

    texts: str | None
    """Name of the stored node texts; None without texts."""

    @property
    def names(self) -> StateNames:
        """Names of the stored objects of this version."""
        return StateNames(self.graph, self.labels, self.model, self.texts)

    @property
    def held_out(self) -> AccuracyCount:
        """Correct predictions for held-out nodes, counted when the version was made."""
        counts = self.measures.get("after", {})
        total, right = (sum(counts.get(name, {}).values()) for name in ("asked", "right"))
        return AccuracyCount(total, right)

    @property
    def fields(self) -> dict[str, Any]:
        """Version number and graph name, as fields of results about this version."""
        return {"model_version": self.number, "graph_version": self.graph}

    def __repr__(self) -> str:
        when = f"{self.at:%Y-%m-%d %H:%M}"
        return f"<Version {self.number}: {describe_version(self)}, by {self.by}, {when} UTC>"

    def _repr_html_(self) -> str:
        return summary_html("Version of a store", self.facts())

    def facts(self) -> list[tuple[str, str]]:
        """Return pairs of field name and value: number, change, author, note, time and accuracy."""
        return [
            ("version", f"{self.number}"),
            ("change", describe_version(self)),
            ("author", self.by),
            ("note", self.note),
            ("time", f"{self.at:%Y-%m-%d %H:%M} UTC"),
            ("held-out accuracy", str(self.held_out)),
        ]


@dataclass(frozen=True)
class Promotion:
    """Record of a promotion or rollback, which makes a version live."""

    number: int
    """Number of the promotion; the first is 1."""

    version: int
    """Number of the version that becomes live."""

    action: str
    """``init``, ``promote`` or ``rollback``."""

    by: str
    """Author of the promotion."""

    note: str
    """Reason for the promotion, as given by the author."""

    at: datetime
    """Time of the promotion, in UTC."""


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def describe_version(version: Version) -> str:
    """Describe the change of a version in a sentence, without node keys."""
    detail: dict[str, Any] = version.detail
    match version.action:
        case "add" | "relabel":
            below = f" below {detail['parent']}" if detail.get("parent") else ""
            return f"{version.action} {_counts(detail['classes'])}{below}"
        case "label":
            return f"label {_counts(detail['more'])}"
        case "unlabel" if "labels" in detail:
            return f"unlabel {_counts(detail['labels'])}"
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
        case "move":
            return f"move {_parents(detail['parents'])}"
        case "grow" | "sync":
            return f"{version.action}: {_changes(detail)}"
        case "refit":
            texts = f", texts by {', '.join(detail['encoder'])}" if detail else ""
            return f"refit on {counted(version.measures['labels'], 'label')}{texts}"
        case "undo":
            return f"undo version {detail['version']}"
        case "discard":
            return f"discard {version_ranges(detail['versions'])}"
        case "prune":
            return f"prune {version_ranges(detail['versions'])}"
        case "purge":
            return f"purge {counted(detail['nodes'], 'node')} from version {detail['instead_of']}"
    return version.action


def _changes(detail: dict[str, int]) -> str:
    changes = [
        f"{counted(detail[name], noun)} {what}"
        for name, (noun, what) in CHANGES.items()
        if detail.get(name)
    ]
    return ", ".join(changes) or "nothing new"


def _parents(parents: dict[str, str | None]) -> str:
    """Name each parent with the classes that are moved below it.

    >>> _parents({"boots": "shoes", "rugs": None, "clogs": "shoes"})
    'boots, clogs below shoes; rugs below no class'
    """
    children: dict[str | None, list[str]] = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    return "; ".join(
        f"{listed(names)} below {'no class' if parent is None else parent}"
        for parent, names in children.items()
    )


def _counts(classes: dict[str, list[Any]]) -> str:
    return listed(f"{name} ({len(keys)})" for name, keys in classes.items())


def version_ranges(numbers: list[int]) -> str:
    """Describe version numbers as ranges.

    >>> version_ranges([2, 3, 4, 7])
    'versions 2-4, 7'

    Args:
        numbers: Version numbers in ascending order.

    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return f"{'version' if len(numbers) == 1 else 'versions'} {', '.join(texts)}"
