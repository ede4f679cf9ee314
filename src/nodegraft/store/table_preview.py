"""What new tables would change in a store: counts, lost labels and predictions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodegraft.base.counting import counted
from nodegraft.store.growth import TableChanges

if TYPE_CHECKING:
    from nodegraft.analysis.preview import Preview


ROUNDING = 1e-9
"""0.29 * 100 is a little less than 29: what is exactly at the limit passes all the same."""


@dataclass(frozen=True)
class TableSizes:
    """How much a version has of what tables can remove."""

    nodes: int
    """Nodes of its graph."""

    edges: int
    """Edges of its graph."""

    labels: int
    """Labelled nodes, those held out included."""


@dataclass(frozen=True)
class TablePreview:
    """What `grow` or `sync` would do; nothing was changed."""

    sizes: TableSizes
    """What the version before has."""

    changes: TableChanges
    """Nodes, edges and labels that would be added, removed or changed."""

    lost: dict[str, int]
    """Class -> how many of its labels would be removed with their nodes."""

    untaught: tuple[str, ...]
    """Classes of which no node would be left that teaches them."""

    max_removed_share: float
    """The largest share that may be removed without an override."""

    keeps_edges: bool = True
    """False where all edges were removed on purpose: the gate does not count them then."""

    predictions: "Preview | None" = None
    """Which predictions change; None where no version can be made."""

    def removals(self) -> list[str]:
        """Return a sentence for each of nodes, edges and labels of which too many would go."""
        removed = {
            "node": (self.changes.removed, self.sizes.nodes),
            "edge": (self.changes.edges_removed if self.keeps_edges else 0, self.sizes.edges),
            "label": (self.changes.labels_lost, self.sizes.labels),
        }
        return [
            f"{gone:,} of {counted(total, noun)} ({100 * gone / total:.1f} %) would be removed; "
            f"the limit is {100 * self.max_removed_share:g} %."
            for noun, (gone, total) in removed.items()
            if gone > self.max_removed_share * total + ROUNDING
        ]

    def untaught_sentences(self) -> list[str]:
        """Return a sentence for each class that would lose all labels that teach it."""
        return [
            f"Class {name!r} would have no label left that teaches it: remove the class first."
            for name in self.untaught
        ]

    def objections(self) -> list[str]:
        """Return what speaks against it, a sentence each."""
        measured = self.predictions.objections() if self.predictions else []
        return [*self.removals(), *self.untaught_sentences(), *measured]

    def warnings(self) -> list[str]:
        """Return what to look at before the version is promoted, a sentence each."""
        return self.predictions.warnings() if self.predictions else []
