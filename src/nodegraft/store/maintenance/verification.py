"""Checksum verification of all files of a store: `nodegraft verify`."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from nodegraft.analysis.results.maintenance import DamagedFile
from nodegraft.analysis.version import Version
from nodegraft.base.errors import (
    NewerStoreError,
    NodegraftError,
    OutdatedStoreError,
    StoreError,
    StoreUnreachableError,
    UnfinishedStoreError,
)
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.files.array_file import (
    SIDECAR,
    StoredArray,
    map_array,
    matches_sidecar,
    require_unchanged,
)
from nodegraft.graph.disk.mapped import KIND, Manifest
from nodegraft.store.maintenance import damage
from nodegraft.store.objects import place as places
from nodegraft.store.objects.derived_cache import CHECKSUM, DERIVED, UNFINISHED
from nodegraft.store.objects.objects import MARKER, OBJECT_NAME, Objects
from nodegraft.store.versions.database import DATABASE_FILES
from nodegraft.store.versions.journal import Journal
from nodegraft.store.versions.migration import require_current

RESTORE = "restore it from a backup, under the same name"


@dataclass(frozen=True)
class Verification:
    """Result of a verification."""

    files: int
    """Number of files that were compared with their checksums."""

    unused: int
    """Number of files that no version uses; `prune` deletes them when they are an hour old."""

    findings: tuple[DamagedFile, ...]
    """The damaged files."""

    recorded: str
    """Reason why the result could not be recorded in the store; empty if it was recorded."""

    @property
    def is_clean(self) -> bool:
        """Whether no file is damaged."""
        return not self.findings


class Verifier:
    """Checksum verification of all files of a store.

    Damage is recorded in the store, which cannot be opened until a later verification finds no
    damage. Damaged files of the cache are deleted, because they are recomputed when needed.

    Args:
        folder: Folder of the store.
        listener: Receives progress events.
    """

    def __init__(self, folder: Path, listener: Listener = SILENT) -> None:
        self._folder, self._listener = folder, listener
        self._findings: dict[str, DamagedFile] = {}
        self._files = self._unused = 0

    def run(self, author: str | None = None) -> Verification:
        """Compare all files with their checksums, and record the result in the store."""
        places.refuse_links(self._folder)
        settings = self._settings()
        with closing(places.journal_in(self._folder, settings)) as journal:
            checked = self._database(journal, settings)
            if checked.versions:
                place, inside = settings.objects_of(self._folder), settings.objects is None
                self._objects(Objects(place, in_store=inside), journal, checked)
            self._derived()
            self._cards()
            if self._findings and checked.is_sound and journal.pruned().keys() != checked.pruned:
                # Another process has pruned the store meanwhile: verify again, because pruned files
                # are no damage.
                return Verifier(self._folder, self._listener).run(author)
            blocking = [finding.file for finding in self._findings.values() if finding.blocks]
            recorded = _record(
                self._folder, journal if checked.is_sound else None, blocking, author
            )
        findings = tuple(self._findings.values())
        return Verification(self._files, self._unused, findings, recorded)

    def _add(self, file: object, problem: object, advice: str, blocks: bool = True) -> None:
        if isinstance(problem, Exception) and damage.is_unreadable(problem):
            # Do not report a file that could not be read as damaged, because it may be undamaged.
            raise damage.unverified(problem) from problem
        reason = str(problem).removeprefix(str(file)).strip(" :.")
        finding = DamagedFile(str(file), reason, advice, blocks)
        self._findings.setdefault(finding.file, finding)

    def _settings(self) -> places.StoreSettings:
        place = self._folder / places.SETTINGS
        self._files += 1
        try:
            return places.settings_in(self._folder)
        except StoreError as error:
            if not (self._folder / DATABASE_FILES[0]).is_file():
                raise
            self._add(place, error, RESTORE)
            return places.StoreSettings(None)

    def _database(self, journal: Journal, settings: places.StoreSettings) -> damage.DatabaseCheck:
        place = self._folder / DATABASE_FILES[0]
        file = "the database" if settings.database else str(place)
        self._files += 1
        checked = damage.check_database(journal)
        advice = "restore it from a backup (and delete store.db-wal and store.db-shm)"
        try:
            require_current(journal)
            if not checked.problem and not checked.versions:
                raise UnfinishedStoreError
        except (OutdatedStoreError, NewerStoreError):
            raise
        except UnfinishedStoreError as error:
            if not checked.problem and not checked.versions:
                raise
            self._add(file, error, advice)
        except StoreUnreachableError as error:
            if not checked.problem:
                raise damage.unverified(error) from error
        except StoreError as error:
            self._add(file, error, advice)
        if checked.problem:
            self._add(file, checked.problem, advice)
        return checked

    def _objects(self, objects: Objects, journal: Journal, checked: damage.DatabaseCheck) -> None:
        names = _listed(objects)
        try:
            with journal.connection() as connection:
                places.require_own_place(connection, objects)
        except StoreError as error:
            # The objects folder is not proven to belong to this store; its files may still be
            # undamaged.
            advice = "see that `objects` in store.json names the right place"
            self._add(objects.path_text(MARKER), error, advice, blocks=False)
        whole = [version for version in checked.versions if version.number not in checked.pruned]
        needed = _needed(whole)
        known: set[str] = set()
        for number, (name, versions) in enumerate(needed.items()):
            self._listener.step("verify objects", number, len(needed))
            self._object(objects, name, _numbers(versions), known)
        self._listener.step("verify objects", len(needed), len(needed))
        self._unnamed(objects, names, known)

    def _object(self, objects: Objects, name: str, versions: str, known: set[str]) -> None:
        """Check an object and all array files that it lists."""
        advice = f"{RESTORE} (needed by {versions})"
        known.add(name)
        self._files += 1
        try:
            document, parts = objects.document(name), objects.parts(name)
        except NodegraftError as error:
            self._add(objects.path_text(name), error, advice)
            return
        stored = _stored_arrays(document)
        for part, file in parts.items():
            if file in known:
                continue
            known.add(file)
            self._files += 1
            try:
                if part in stored:
                    path = objects.paths(name)[part]
                    require_unchanged(path, map_array(path, stored[part]), stored[part])
                else:
                    objects.check(file)
            except (NodegraftError, KeyError, OSError) as error:
                self._add(objects.path_text(file), error, advice)

    def _unnamed(self, objects: Objects, names: Iterable[str], known: set[str]) -> None:
        """Check and count files that no version uses.

        Array files of graphs on disk are not checked, because the object with their hashes may no
        longer exist.
        """
        for name in names:
            if name in known or not OBJECT_NAME.fullmatch(name):
                continue
            try:
                objects.check(name, array_files=True)
            except NodegraftError as error:
                if damage.is_missing(error):
                    # Another process has deleted the file since the files were listed.
                    continue
                advice = "delete it, or let `nodegraft prune` do so: no version needs it"
                self._add(objects.path_text(name), error, advice, blocks=False)
            self._unused += 1

    def _derived(self) -> None:
        """Check the files of the cache; delete damaged ones, which are recomputed when needed."""
        caches = self._folder / DERIVED
        for path in _files_in(caches):
            graph, *names = path.relative_to(caches).parts
            if not names or graph.startswith(UNFINISHED):
                continue
            self._listener.step("verify derived data", self._files, self._files)
            damaged = _is_damaged_cache(path, caches / graph)
            if damaged is None:
                continue
            self._files += 1
            if damaged:
                advice = _removed(path, caches / graph)
                self._add(path, "its checksum is wrong", advice, blocks=False)

    def _cards(self) -> None:
        for path in _files_in(self._folder / places.CARDS):
            try:
                whole = matches_sidecar(path)
            except OSError as error:
                if damage.is_missing(error):
                    continue
                raise damage.unverified(error) from error
            self._files += whole is not None
            if whole is False:
                number = path.stem.rpartition("-")[2]
                advice = f"write it again: nodegraft card {self._folder} --version {number} --out …"
                self._add(path, "its checksum is wrong", advice, blocks=False)


def _record(folder: Path, journal: Journal | None, files: list[str], author: str | None) -> str:
    try:
        damage.record_damage(folder, journal, files, author)
    except (StoreError, OSError) as error:
        return str(error)
    return ""


def _listed(objects: Objects) -> list[str]:
    """Return the names of all objects; raise an error if a folder outside the store is empty.

    An empty folder is probably not mounted.
    """
    try:
        names = list(objects.files())
    except OSError as error:
        raise damage.unverified(f"{objects.place} cannot be read: {error}") from error
    if not names and not objects.in_store:
        raise damage.unverified(
            f"there are no objects in {objects.place}: is it mounted, and does `objects` in "
            "store.json name the right place? A relative path is read from the working folder"
        )
    return names


def _needed(versions: Iterable[Version]) -> dict[str, list[int]]:
    rows_of: dict[str, list[int]] = {}
    for version in versions:
        for name in version.names.all:
            rows_of.setdefault(name, []).append(version.number)
    return rows_of


def _numbers(versions: list[int]) -> str:
    if len(versions) == 1:
        return f"version {versions[0]}"
    return f"{len(versions)} versions, the newest is {versions[-1]}"


def _stored_arrays(document: dict[str, Any]) -> dict[str, StoredArray]:
    """Return the descriptions of a graph's arrays from the JSON of the graph's object."""
    if document.get("kind") != KIND:
        return {}
    growth = {name: StoredArray.from_json(entry) for name, entry in document["growth"].items()}
    return {**Manifest.from_json(document["manifest"]).arrays, **growth}


def _files_in(place: Path) -> Iterator[Path]:
    """Yield all files below a folder, without following links."""
    if not place.is_dir() or place.is_symlink():
        return
    for folder, folders, names in os.walk(place):
        folders.sort()
        paths = [Path(folder, name) for name in sorted(names)]
        yield from (path for path in paths if not path.is_symlink())


def _removed(path: Path, place: Path) -> str:
    """Delete a damaged file of the cache; return advice for the message."""
    with suppress(OSError):
        if path.parent == place:
            path.unlink()
        else:
            # Delete all files of the layer, because they can only be used together.
            shutil.rmtree(path.parent)
    advice = "delete it" if path.exists() else "it was removed"
    return f"{advice}: it is derived data and is computed again when needed"


def _is_damaged_cache(path: Path, place: Path) -> bool | None:
    """Return whether a file of the cache is damaged; None if it has no checksum."""
    try:
        if path.parent != place:
            whole = None if path.name.endswith(SIDECAR) else matches_sidecar(path)
            return None if whole is None else not whole
        if path.name.startswith("."):
            return None
        content = path.read_bytes()
    except OSError:
        # Another process has replaced or deleted the file.
        return None
    return crc32(content[CHECKSUM:]).to_bytes(CHECKSUM, "little") != content[:CHECKSUM]
