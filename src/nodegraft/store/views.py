"""What a notebook shows of a store: a summary, and tables of its classes and labels."""

from pathlib import Path

from nodegraft.analysis.version import Version, describe_version
from nodegraft.base.counting import listed
from nodegraft.base.html import summary_html
from nodegraft.base.tabular import ColumnTable
from nodegraft.store.parts import StoreParts


class StoreViews:
    """Summary and tables of a store, which a notebook shows; :class:`nodegraft.Store` has them."""

    place: Path
    _parts: StoreParts

    def classes(self, version: int | None = None) -> ColumnTable:
        """Return a table of the classes: class, training labels, held_out labels, session.

        Session 0 has the classes of ``init``; the others count the changes that added classes.

        Args:
            version: Number of the version; None for the candidate.
        """
        labels = self._parts.states.labels(self._parts.versions.whole(version).labels)
        return ColumnTable(
            {
                "class": list(labels),
                "labels": [len(one.taught) for one in labels.values()],
                "held_out": [len(one.held_out) for one in labels.values()],
                "session": list(labels.sessions.values()),
            }
        )

    def labels(self, version: int | None = None) -> ColumnTable:
        """Return a table of the labels: node, label, and whether it is held_out from training.

        Args:
            version: Number of the version; None for the candidate.
        """
        labels = self._parts.states.labels(self._parts.versions.whole(version).labels)
        rows = [
            (key, name, is_held_out)
            for name, one in labels.items()
            for keys, is_held_out in ((one.taught, False), (one.held_out, True))
            for key in keys
        ]
        names = ("node", "label", "held_out")
        return ColumnTable({name: [row[place] for row in rows] for place, name in enumerate(names)})

    def __repr__(self) -> str:
        return f"Store({str(self.place)!r})"

    def _repr_html_(self) -> str:
        versions, parts = self._parts.versions, self._parts
        candidate, live = parts.journal.candidate(), parts.journal.version(versions.live)
        waiting = [("candidate version", _named(candidate))] if versions.waiting() else []
        labels = parts.states.labels(live.labels)
        counts = [f"{name} {len(one.all):,}" for name, one in labels.items()]
        facts = [
            ("live version", _named(live)),
            *waiting,
            ("held-out accuracy", str(live.held_out)),
            ("method", parts.states.unlearned(live.names).model.name),
            ("world", parts.settings.world),
            ("classes", f"{len(labels)}"),
            ("labels", f"{sum(len(one.all) for one in labels.values()):,}: {listed(counts)}"),
            *parts.states.graph(live.graph).facts(),
        ]
        return summary_html(f"Store {self.place.name}", facts)


def _named(version: Version) -> str:
    return f"{version.number}: {describe_version(version)}"
