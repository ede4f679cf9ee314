"""Prune: choose old versions and delete their files.

A prune adds a row that lists the pruned versions and then deletes their files. Files are renamed in
an exclusive transaction, during which no other process can add a version, and are deleted after the
transaction.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodegraft.analysis.version import Promotion, Version, now
from nodegraft.base.errors import StoreError
from nodegraft.base.files.folder import StoredFile
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.store.intent import Intent
from nodegraft.store.objects.derived_cache import clear_caches
from nodegraft.store.objects.objects import Objects
from nodegraft.store.objects.place import require_own_place
from nodegraft.store.parts import StoreParts
from nodegraft.store.versions.journal import (
    Journal,
    promotions_in,
    pruned_in,
    versions_in,
    write_rows,
)
from nodegraft.store.versions.lineage import live_versions

KEEP = 10
"""Default number of the newest versions to keep, and of the last live versions to keep."""

ABANDONED = timedelta(hours=1)
"""Age from which an unused file is deleted; a younger one may belong to a new version."""


BATCH = 50
"""Number of files that are deleted from an object store, such as S3, in one transaction."""

SWEEPS = 20
"""Maximum number of attempts to delete all unused files while other processes add versions."""


@dataclass(frozen=True)
class Pruned:
    """Result of a prune or of its dry run."""

    versions: tuple[int, ...]
    """Numbers of the versions whose graph, labels and model are deleted."""

    kept: tuple[int, ...]
    """Numbers of the versions that keep their files."""

    files: int
    """Number of deleted files, including files left by killed processes."""

    size: int
    """Total size of the deleted files in bytes."""


def unneeded(
    versions: Sequence[Version], moves: Sequence[Promotion], pruned: Collection[int], keep: int
) -> list[int]:
    """Return the numbers of the versions to prune: all but the newest and the last live ones.

    Args:
        versions: All versions, oldest first.
        moves: All promotions, oldest first.
        keep: Number of the newest versions to keep, and of the last live versions to keep.
    """
    validate_value("keep", keep, PositiveInt)
    changes = [version.number for version in versions if version.action != "prune"]
    last_live = {moves[-1].version, *live_versions(moves)[-keep - 1 :]}
    oldest = changes[-keep:][0]
    return [
        version.number
        for version in versions
        if version.number < oldest
        and version.number not in last_live
        and version.number not in pruned
    ]


def prune(parts: StoreParts, keep: int, dry_run: bool, intent: Intent) -> Pruned:
    """Delete the files of old versions; see :meth:`nodegraft.Store.prune`.

    Args:
        keep: Number of the newest versions to keep, and of the last live versions to keep.
        dry_run: Whether to report only what would be deleted.
    """
    intent.refuse("prune", "override", "promote", "idempotency_key")
    if dry_run:
        return _preview(parts.journal, parts.objects, keep)
    try:
        return _prune(parts.journal, parts.objects, keep, intent)
    finally:
        clear_unused_caches(parts, now() - ABANDONED)


def clear_unused_caches(parts: StoreParts, abandoned: datetime) -> None:
    """Delete the caches of graphs that no version uses any more.

    Args:
        abandoned: Unfinished graphs are kept if one of their files was written at or after this
            time.
    """
    pruned = parts.journal.pruned()
    graphs = {row.graph for row in parts.journal.versions() if row.number not in pruned}
    # Keep also the cache of the graph that a graph grew from, because its heat diffusion is reused.
    bases = {parts.states.graphs.base_of(name) or name for name in graphs}
    clear_caches(parts.place, graphs | bases, abandoned)


def _preview(journal: Journal, objects: Objects, keep: int) -> Pruned:
    with journal.connection() as connection:
        require_own_place(connection, objects)
        versions, pruned = versions_in(connection), pruned_in(connection)
        new = unneeded(versions, promotions_in(connection), pruned, keep)
    freed = _free(objects, versions, {*pruned, *new}, now() - ABANDONED)
    return _result(versions, pruned, new, freed)


def _prune(journal: Journal, objects: Objects, keep: int, intent: Intent) -> Pruned:
    # Add the row before deleting files, so that an interruption leaves unused files, but never a
    # version without its files.
    with journal.transaction(alone=True) as connection:
        require_own_place(connection, objects)
        versions, pruned = versions_in(connection), pruned_in(connection)
        new = unneeded(versions, promotions_in(connection), pruned, keep)
        if new:
            last, measures = versions[-1], {"after": versions[-1].measures.get("after", {})}
            row = (last.number + 1, last.number, "prune", {"versions": new})
            who = (intent.author_name, intent.note, now())
            write_rows(connection, Version(*row, *who, **vars(last.names), measures=measures))
    return _result(versions, pruned, new, sweep(journal, objects, now() - ABANDONED))


def sweep(journal: Journal, objects: Objects, abandoned: datetime) -> dict[str, StoredFile]:
    """Delete the files of pruned versions, and leftover files of killed processes.

    Files are renamed in an exclusive transaction and deleted after it. If another process adds a
    version that uses one of these files, it checks for missing files in the same transaction, and
    gets an error. If a sweep is interrupted, the next sweep deletes the renamed files.

    Args:
        abandoned: Unused files that belong to no pruned version are kept if they were written at or
            after this time.

    Returns:
        Dictionary: name of each deleted file -> its size and time.
    """
    with journal.transaction(alone=True) as connection:
        require_own_place(connection, objects)
        versions = versions_in(connection)
        free = _free(objects, versions, pruned_in(connection), abandoned)
        aside = [objects.set_aside(name) for name in free] if objects.are_local else []
    if not objects.are_local:
        return _delete_in_batches(journal, objects, versions, free)
    for name in aside:
        objects.remove(name)
    return free


def sweep_all(journal: Journal, objects: Objects) -> dict[str, StoredFile]:
    """Delete all unused files of any age; raise an error if some cannot be deleted.

    If another process is about to add a version that needs one of the files, it gets an error.
    """
    abandoned, deleted_files = now(), dict[str, StoredFile]()
    for _ in range(SWEEPS):
        deleted_files |= sweep(journal, objects, abandoned)
        with journal.connection() as connection:
            versions, pruned = versions_in(connection), pruned_in(connection)
        unused = _free(objects, versions, pruned, abandoned)
        if not unused:
            return deleted_files
    raise StoreError(
        f"Not all files are deleted: {len(unused)} are left in {objects.place}, as others added "
        "versions meanwhile. Run the purge again."
    )


def _delete_in_batches(
    journal: Journal, objects: Objects, versions: Sequence[Version], free: dict[str, StoredFile]
) -> dict[str, StoredFile]:
    """Delete files from an object store, in which they cannot be renamed.

    Files are deleted in batches, so that other writers do not wait long. Each batch is deleted in
    an exclusive transaction. If another process has added a version since the files were chosen,
    the remaining files are left to the next prune.
    """
    names, deleted_files = list(free), dict[str, StoredFile]()
    for start in range(0, len(names), BATCH):
        with journal.transaction(alone=True) as connection:
            if versions_in(connection) != versions:
                break
            for name in names[start : start + BATCH]:
                objects.remove(name)
                deleted_files[name] = free[name]
    return deleted_files


def _free(
    objects: Objects, versions: Sequence[Version], pruned: Collection[int], abandoned: datetime
) -> dict[str, StoredFile]:
    """Return the unused files, sorted in the order in which they must be deleted."""
    needed = objects.names_in(
        _names(version for version in versions if version.number not in pruned)
    )
    standing = objects.files()
    lists = _names(version for version in versions if version.number in pruned) & standing.keys()
    old = {
        name
        for name, file in standing.items()
        if file.written < abandoned or objects.is_set_aside(name)
    }
    free = (lists | _parts(objects, lists) | old) & standing.keys() - needed
    # Delete objects after the array files that they list, so that a prune can find the remaining
    # array files if a sweep was interrupted.
    return {name: standing[name] for name in sorted(free, key=lambda name: (name in lists, name))}


def _names(versions: Iterable[Version]) -> set[str]:
    return {name for version in versions for name in version.names.all}


def _parts(objects: Objects, lists: Iterable[str]) -> set[str]:
    names: set[str] = set()
    for name in lists:
        try:
            names |= objects.names_in([name])
        except StoreError:
            # The array files of a damaged object are unknown; a later prune deletes them because of
            # their age.
            continue
    return names


def _result(
    versions: Sequence[Version],
    pruned: Collection[int],
    new: Sequence[int],
    free: dict[str, StoredFile],
) -> Pruned:
    remaining = [version.number for version in versions if version.number not in {*pruned, *new}]
    size = sum(file.size for file in free.values())
    return Pruned(tuple(new), tuple(remaining), len(free), size)
