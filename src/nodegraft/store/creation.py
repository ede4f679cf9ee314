"""How a store is made: whole, or to be made again."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.measures import right_answers
from nodegraft.analysis.snapshot import first_state
from nodegraft.analysis.version import Promotion, Version, now
from nodegraft.base.errors import ParameterError, StoreError, UnfinishedStoreError
from nodegraft.base.events import Listener
from nodegraft.base.files.folder import PRIVATE, READABLE, WriteOnceFolder
from nodegraft.base.measure import Measurement
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.disk.mapped import MappedStore
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.graph.labels import NodeLabels
from nodegraft.model.confidence import DEFAULT_WORLD, World
from nodegraft.model.registry import has_open_set_score
from nodegraft.store.fitting import fit_measures
from nodegraft.store.intent import Intent
from nodegraft.store.objects.derived_cache import DERIVED
from nodegraft.store.objects.graph_objects import require_local
from nodegraft.store.objects.links import refuse_links
from nodegraft.store.objects.objects import Objects
from nodegraft.store.objects.ownership import claim_place, write_store_id
from nodegraft.store.objects.place import OBJECTS, SETTINGS, StoreSettings, settings_text
from nodegraft.store.objects.states import States
from nodegraft.store.reader import StoreReader
from nodegraft.store.settings.known_settings import WORLD, refuse_open_world, set_value
from nodegraft.store.versions.database import DATABASE_FILES, database_url, has_password
from nodegraft.store.versions.journal import Journal
from nodegraft.store.versions.migration import migrated, require_free
from nodegraft.tables.node_texts import NodeTexts


def made_in(
    folder: Path,
    graph: Graph,
    labels: Mapping[str, Iterable[Key]],
    *,
    method: str,
    parameters: Mapping[str, Any],
    tables: Mapping[str, Any],
    texts: NodeTexts | None,
    settings: StoreSettings,
    world: World | None,
    intent: Intent,
    listener: Listener,
) -> Journal:
    """A first version in a folder; the arguments are those of :meth:`nodegraft.Store.init`.

    Args:
        folder: A folder that does not exist yet, or is empty.
        graph: All nodes and edges.
        labels: Class name -> keys of its nodes.
        method: The name of a method.
        parameters: Hyper-parameters of the method.
        tables: How tables are read.
        texts: One for each node, for people to read; None for none.
        settings: Where versions and objects are.
        world: Whether nodes may belong to classes that are not known; None for open where the
            method has an open-set score, else closed.
        intent: Author and note.
        listener: Receives progress events.
    """
    refuse_links(folder)
    _refuse_taken(folder)
    settings = replace(settings, objects=settings.objects and _resolved(settings.objects))
    world = _world_of(method, world)
    intent.refuse("init", "override", "promote", "idempotency_key")
    who, note = intent.author_name, intent.note
    NodeLabels.by_key(graph, labels)
    if texts is not None and len(texts) != graph.num_nodes:
        raise ParameterError(f"{len(texts)} texts were given for {graph.num_nodes} nodes.")
    # Before the long part: whoever named a wrong place is told at once.
    if settings.database:
        require_free(settings.database)
    WriteOnceFolder(folder).check_writable()
    if settings.objects:
        _require_unused(settings.objects)
    objects = Objects(settings.objects_of(folder), in_store=settings.objects is None)
    if isinstance(graph._store, MappedStore):
        require_local(objects)
    # Names that are probably the same are a finding of the report, and no error here.
    checked = StoreLabels().added(labels, force_name=True)
    store_id = claim_place(objects)
    states = States(folder, objects)
    name, graph = states.put_graph(graph)
    with Measurement() as fit:
        state = first_state(graph, checked, method, dict(parameters), listener).in_world(world)
    right = right_answers(state, checked.held_out).to_json()
    measures = {"after": right} | fit_measures(checked, fit.seconds)
    names = states.put(state, name, texts)
    journal = migrated(database_url(folder, settings.database))
    ours = _settings_written(folder, settings)
    at = now()
    detail = {"tables": dict(tables)}
    version = Version(1, None, "init", detail, who, note, at, **vars(names), measures=measures)

    def write_settings(connection: Connection) -> None:
        write_store_id(connection, store_id)
        # A method without an open-set score is closed, whatever is written down.
        if has_open_set_score(method):
            set_value(connection, WORLD.name, world, intent)

    # Last: a store that has a version is whole.
    try:
        journal.add(version, Promotion(1, 1, "init", who, note, at), confirm=write_settings)
    except StoreError:
        # Somebody else's store came first.
        journal.close()
        if ours:
            (folder / SETTINGS).unlink()
        raise
    return journal


def _resolved(objects: str) -> str:
    """Return an absolute path, so that a store works from every folder; a URL as it is."""
    local = WriteOnceFolder(objects).local_path("")
    return objects if local is None else str(local.expanduser().resolve())


def _world_of(method: str, world: World | None) -> World:
    if world is not None:
        validate_value("world", world, World)
    if has_open_set_score(method):
        return world or DEFAULT_WORLD
    if world == "open":
        refuse_open_world(method)
    return "closed"


def _require_unused(objects: str) -> None:
    """Pruning takes away what no version of a store names: those of another store, too."""
    place = WriteOnceFolder(objects)
    place.check_writable()
    if place.files():
        raise StoreError(
            f"{objects} contains files: give each store a place of its own. If creating a store "
            "there was interrupted, remove its files first."
        )


def _settings_written(folder: Path, settings: StoreSettings) -> bool:
    # Whoever reads a password can do what its owner can.
    mode = PRIVATE if settings.database and has_password(settings.database) else READABLE
    try:
        return WriteOnceFolder(folder).write(SETTINGS, settings_text(settings).encode(), mode)
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {error.strerror or error}.") from error


def _refuse_taken(folder: Path) -> None:
    """Anything is left alone but an empty folder and a store whose making was cut."""
    if not folder.exists():
        return
    left = {path.name for path in folder.iterdir()} if folder.is_dir() else {folder.name}
    # Drafts that a killed process has left.
    left = {name for name in left if not name.startswith(".")}
    strange = left - {OBJECTS, DERIVED, SETTINGS, *DATABASE_FILES}
    if strange or (SETTINGS in left and not _unfinished(folder)):
        raise StoreError(f"{folder} already exists: choose a new folder for the store.")
    (folder / SETTINGS).unlink(missing_ok=True)


def _unfinished(folder: Path) -> bool:
    try:
        StoreReader.open(folder).close()
    except UnfinishedStoreError:
        return True
    except StoreError:
        # Perhaps its database is away.
        return False
    return False
