"""Database, files and settings of a store, which all operations on the store share."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodegraft.analysis.version import Version
from nodegraft.base.events import SILENT, Listener
from nodegraft.store.objects.objects import Objects
from nodegraft.store.objects.place import settings_in
from nodegraft.store.settings import Settings
from nodegraft.store.versions.journal import Journal
from nodegraft.store.versions.versions import Versions

if TYPE_CHECKING:
    from nodegraft.analysis.label_sets.state import LabelSetState
    from nodegraft.analysis.snapshot import State
    from nodegraft.store.objects.states import States
    from nodegraft.tables.columns import Source

SEVERAL_LABELS = "several_labels"
"""Field in the detail of version 1 that is true if nodes may have several labels."""


class StoreParts:
    """Database, files and settings of a store.

    Args:
        place: Folder of the store.
        journal: Database of the store.
        listener: Receives progress events of long work.
    """

    def __init__(self, place: Path, journal: Journal, listener: Listener = SILENT) -> None:
        settings = settings_in(place)
        self.place, self.journal, self.listener = place, journal, listener
        self.objects = Objects(settings.objects_of(place), in_store=settings.objects is None)
        self.versions = Versions(journal, self.objects)
        self.settings = Settings(self.versions, self.objects)

    @cached_property
    def states(self) -> "States":
        """Graphs, labels, models and texts of versions."""
        # Import here, because models are slow to import and many calls of a store do not need them.
        from nodegraft.store.objects.states import States

        return States(self.place, self.objects)

    @cached_property
    def table_options(self) -> dict[str, Any]:
        """Options for reading tables (columns, key type, delimiter), as given to ``init``."""
        options: dict[str, Any] = self.journal.version(1).detail["tables"]
        return options

    def state(self, version: Version) -> "State":
        """Return graph, labels and model of a version."""
        self.versions.require_whole(version)
        return self.states.get(version.names).in_world(self.settings.declared_world)

    def label_set_state(self, version: Version) -> "LabelSetState":
        """Return graph, labels and model of a version with several labels per node."""
        self.versions.require_whole(version)
        return self.states.label_set_state(version.names)


@dataclass(frozen=True)
class NewTables:
    """Tables with new nodes and edges for a store."""

    nodes: "Source"
    """Table of nodes."""

    edges: "Source"
    """Table of edges."""

    repair: bool
    """Whether to skip invalid rows instead of raising an error."""

    columns: Mapping[str, Any] | None
    """Column names, if they differ from those in the tables that the store was created from."""
