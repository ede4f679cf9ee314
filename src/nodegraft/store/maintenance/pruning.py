"""Choice of the versions to prune, and the space that this frees.

A prune adds a row that lists the pruned versions and then deletes their files. Files are renamed in
the transaction in which nobody can add a version, and deleted after it.
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
"""Number of newest versions, and of previously live versions, that are kept."""

ABANDONED = timedelta(hours=1)
"""A file that no version names is a leftover from this age on; a younger one may be about to be
named."""


BATCH = 50
"""Files of an object store that are deleted in one transaction."""

SWEEPS = 20
"""Attempts of a purge to delete all files while other processes add versions."""


@dataclass(frozen=True)
class Pruned:
    """What a prune deleted, or would delete."""

    versions: tuple[int, ...]
    """Versions whose graph, labels and model are deleted."""

    kept: tuple[int, ...]
    """Versions that keep their files."""

    files: int
    """Number of deleted files, including leftovers of killed processes."""

    size: int
    """Size of these files in bytes."""


def unneeded(
    versions: Sequence[Version], moves: Sequence[Promotion], pruned: Collection[int], keep: int
) -> list[int]:
    """Return the versions to prune: neither among the newest nor the last live ones.

    Args:
        versions: All versions, oldest first.
        moves: All promotions, oldest first.
        keep: Number of newest and of previously live versions to keep.
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
    """Delete the files of old versions; :meth:`nodegraft.Store.prune` describes it.

    Args:
        keep: Number of newest and of previously live versions to keep.
        dry_run: Whether to delete nothing.
    """
    intent.refuse("prune", "override", "promote", "idempotency_key")
    if dry_run:
        return _preview(parts.journal, parts.objects, keep)
    try:
        return _prune(parts.journal, parts.objects, keep, intent)
    finally:
        clear_unused_caches(parts, now() - ABANDONED)


def clear_unused_caches(parts: StoreParts, abandoned: datetime) -> None:
    """Delete cached data of graphs that no version has any more.

    Args:
        abandoned: A graph that is being written stays if something was written later.
    """
    pruned = parts.journal.pruned()
    graphs = {row.graph for row in parts.journal.versions() if row.number not in pruned}
    # The diffusion of a graph that has grown by little is cached with the graph before it.
    bases = {parts.states.graphs.base_of(name) or name for name in graphs}
    clear_caches(parts.place, graphs | bases, abandoned)


def _preview(journal: Journal, objects: Objects, keep: int) -> Pruned:
    with journal.connection() as connection:
        require_own_place(connection, objects)
        versions, pruned = versions_in(connection), pruned_in(connection)
        gone = unneeded(versions, promotions_in(connection), pruned, keep)
    freed = _free(objects, versions, {*pruned, *gone}, now() - ABANDONED)
    return _result(versions, pruned, gone, freed)


def _prune(journal: Journal, objects: Objects, keep: int, intent: Intent) -> Pruned:
    # The row comes first: an interruption leaves unused files, never a version without files.
    with journal.transaction(alone=True) as connection:
        require_own_place(connection, objects)
        versions, pruned = versions_in(connection), pruned_in(connection)
        gone = unneeded(versions, promotions_in(connection), pruned, keep)
        if gone:
            last, measures = versions[-1], {"after": versions[-1].measures.get("after", {})}
            row = (last.number + 1, last.number, "prune", {"versions": gone})
            who = (intent.author_name, intent.note, now())
            write_rows(connection, Version(*row, *who, **vars(last.names), measures=measures))
    return _result(versions, pruned, gone, sweep(journal, objects, now() - ABANDONED))


def sweep(journal: Journal, objects: Objects, abandoned: datetime) -> dict[str, StoredFile]:
    """Delete the files of pruned versions, and what killed processes have left.

    Files get another name while nobody can add a version, and are deleted afterwards. A writer
    that needs one of them finds it gone when it looks, in the transaction that adds its version,
    and starts again. An interrupted sweep leaves files under names that the next one collects.

    Args:
        abandoned: Files that no version names stay if they are younger.
    """
    with journal.transaction(alone=True) as connection:
        require_own_place(connection, objects)
        versions = versions_in(connection)
        free = _free(objects, versions, pruned_in(connection), abandoned)
        aside = [objects.set_aside(name) for name in free] if objects.are_local else []
    if not objects.are_local:
        return _removed_in_batches(journal, objects, versions, free)
    for name in aside:
        objects.remove(name)
    return free


def sweep_all(journal: Journal, objects: Objects) -> dict[str, StoredFile]:
    """Delete all files that no whole version names, of all ages; raise if some are left.

    A writer that is about to name one of them is refused, and starts again.
    """
    abandoned, removed = now(), dict[str, StoredFile]()
    for _ in range(SWEEPS):
        removed |= sweep(journal, objects, abandoned)
        with journal.connection() as connection:
            versions, pruned = versions_in(connection), pruned_in(connection)
        left = _free(objects, versions, pruned, abandoned)
        if not left:
            return removed
    raise StoreError(
        f"Not all files are deleted: {len(left)} are left in {objects.place}, as others added "
        "versions meanwhile. Run the purge again."
    )


def _removed_in_batches(
    journal: Journal, objects: Objects, versions: Sequence[Version], free: dict[str, StoredFile]
) -> dict[str, StoredFile]:
    """Delete where files cannot be renamed: a few at a time, so that writers wait for moments.

    Each batch is deleted while nobody can add a version, and only if none was added since the
    files were chosen; else the rest is left to the next prune.
    """
    names, removed = list(free), dict[str, StoredFile]()
    for start in range(0, len(names), BATCH):
        with journal.transaction(alone=True) as connection:
            if versions_in(connection) != versions:
                break
            for name in names[start : start + BATCH]:
                objects.remove(name)
                removed[name] = free[name]
    return removed


def _free(
    objects: Objects, versions: Sequence[Version], pruned: Collection[int], abandoned: datetime
) -> dict[str, StoredFile]:
    """Return the files that can be deleted, in the order in which they must be."""
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
    # Lists of files are deleted last, so that an interrupted sweep can find the rest by them.
    return {name: standing[name] for name in sorted(free, key=lambda name: (name in lists, name))}


def _names(versions: Iterable[Version]) -> set[str]:
    return {name for version in versions for name in version.names.all}


def _parts(objects: Objects, lists: Iterable[str]) -> set[str]:
    names: set[str] = set()
    for name in lists:
        try:
            names |= objects.names_in([name])
        except StoreError:
            # A damaged list does not say what belongs to it: its files are deleted when old.
            continue
    return names


def _result(
    versions: Sequence[Version],
    pruned: Collection[int],
    gone: Sequence[int],
    free: dict[str, StoredFile],
) -> Pruned:
    remaining = [version.number for version in versions if version.number not in {*pruned, *gone}]
    size = sum(file.size for file in free.values())
    return Pruned(tuple(gone), tuple(remaining), len(free), size)
