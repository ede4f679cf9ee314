"""Creation of a store; an interrupted creation can be repeated in the same folder."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection

from nodegraft.analysis.version import Promotion, Version, now
from nodegraft.base.errors import ParameterError, StoreError, UnfinishedStoreError
from nodegraft.base.events import Listener
from nodegraft.base.files.folder import PRIVATE, READABLE, WriteOnceFolder
from nodegraft.graph.graph import Graph
from nodegraft.store.first_version import FirstVersion
from nodegraft.store.intent import Intent
from nodegraft.store.objects import place as places
from nodegraft.store.objects.derived_cache import DERIVED
from nodegraft.store.objects.graph_objects import require_local
from nodegraft.store.objects.objects import Objects
from nodegraft.store.objects.states import States
from nodegraft.store.versions.database import DATABASE_FILES, database_url, has_password
from nodegraft.store.versions.journal import Journal
from nodegraft.store.versions.migration import migrated, require_current, require_free
from nodegraft.tables.node_texts import NodeTexts


def made_in(
    folder: Path,
    graph: Graph,
    first: FirstVersion,
    *,
    tables: Mapping[str, Any],
    texts: NodeTexts | None,
    settings: places.StoreSettings,
    intent: Intent,
    listener: Listener,
) -> Journal:
    """Create a store with a first version; :meth:`nodegraft.Store.init` describes the arguments.

    Args:
        folder: A folder that does not exist yet, or is empty.
        first: Labels and model of the first version.
        texts: Text of each node; None if there are no texts.
    """
    places.refuse_links(folder)
    _refuse_taken(folder)
    settings = replace(settings, objects=settings.objects and _resolved(settings.objects))
    intent.refuse("init", "override", "promote", "idempotency_key")
    who, note = intent.author_name, intent.note
    first.check(graph)
    if texts is not None and len(texts) != graph.num_nodes:
        raise ParameterError(f"{len(texts)} texts were given for {graph.num_nodes} nodes.")
    # Check the database and the folders before the slow fit.
    if settings.database:
        require_free(settings.database)
    WriteOnceFolder(folder).check_writable()
    if settings.objects:
        _require_unused(settings.objects)
    objects = Objects(settings.objects_of(folder), in_store=settings.objects is None)
    if graph.is_on_disk:
        require_local(objects)
    # The marker file that an interrupted `init` left is reused.
    store_id = objects.put_marker(uuid4().hex)
    states = States(folder, objects)
    graph = states.put_graph(graph)
    state, measures = first.fitted(graph, listener)
    names = states.put(state, states.put_texts(texts))
    journal = migrated(database_url(folder, settings.database))
    ours = _settings_written(folder, settings)
    at = now()
    detail = {"tables": dict(tables)} | first.detail
    version = Version(1, None, "init", detail, who, note, at, **vars(names), measures=measures)

    def write_settings(connection: Connection) -> None:
        places.write_store_id(connection, store_id)
        first.write_settings(connection, intent)

    # Add the version's database row last, so that every store that has a version is complete.
    try:
        journal.add(version, Promotion(1, 1, "init", who, note, at), confirm=write_settings)
    except StoreError:
        # Another process may have created a store in this folder during the fit.
        journal.close()
        if ours:
            (folder / places.SETTINGS).unlink()
        raise
    return journal


def _resolved(objects: str) -> str:
    """Make a path absolute, so that a store works from any working folder; keep a URL."""
    local = WriteOnceFolder(objects).local_path("")
    return objects if local is None else str(local.expanduser().resolve())


def _require_unused(objects: str) -> None:
    """Refuse an objects folder that has files: a prune could delete files of another store."""
    place = WriteOnceFolder(objects)
    place.check_writable()
    if place.files():
        raise StoreError(
            f"{objects} contains files: give each store a place of its own. If creating a store "
            "there was interrupted, remove its files first."
        )


def _settings_written(folder: Path, settings: places.StoreSettings) -> bool:
    # Only the owner may read a file that contains a password.
    mode = PRIVATE if settings.database and has_password(settings.database) else READABLE
    try:
        return WriteOnceFolder(folder).write(
            places.SETTINGS, places.settings_text(settings).encode(), mode
        )
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {error.strerror or error}.") from error


def _refuse_taken(folder: Path) -> None:
    """Refuse a folder that is not empty, unless an interrupted `init` wrote its files."""
    if not folder.exists():
        return
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else {folder.name}
    # Ignore hidden files: they are unfinished writes of a killed process.
    names = {name for name in names if not name.startswith(".")}
    strange = names - {places.OBJECTS, DERIVED, places.SETTINGS, *DATABASE_FILES}
    if strange or (places.SETTINGS in names and not _unfinished(folder)):
        raise StoreError(f"{folder} already exists: choose a new folder for the store.")
    (folder / places.SETTINGS).unlink(missing_ok=True)


def _unfinished(folder: Path) -> bool:
    try:
        with closing(places.journal_in(folder)) as journal:
            require_current(journal)
            journal.version()
    except UnfinishedStoreError:
        return True
    except StoreError:
        # The database may be unreachable; treat the folder as taken.
        return False
    return False
