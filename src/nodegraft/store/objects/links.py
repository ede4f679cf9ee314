"""A store follows no symbolic link: what it writes and deletes lies in its own folders."""

from pathlib import Path

from nodegraft.base.errors import StoreError
from nodegraft.graph.disk.manifest import LAYERS
from nodegraft.store.objects.derived_cache import DERIVED
from nodegraft.store.objects.place import OBJECTS, SETTINGS
from nodegraft.store.versions.database import DATABASE_FILES

CARDS = "cards"
"""The folder of a store that holds the model cards of versions that were promoted."""


def refuse_links(folder: Path) -> None:
    """Refuse a store that has symbolic links where it writes.

    Somebody who hands over such a store could have files outside of it overwritten or deleted.
    ``store.json`` may be a link, as a mounted configuration is: nothing is written through it.

    Args:
        folder: The store, which may be reached through a link itself.
    """
    derived = folder / DERIVED
    places = [folder / name for name in (OBJECTS, DERIVED, CARDS, *DATABASE_FILES)]
    if derived.is_dir() and not derived.is_symlink():
        graphs = list(derived.iterdir())
        places += graphs + [graph / LAYERS for graph in graphs if not graph.is_symlink()]
    for place in places:
        if place.is_symlink():
            raise StoreError(
                f"{place} is a symbolic link, which a store does not follow: replace it by its "
                f"target. (Objects may be elsewhere: `objects` in {SETTINGS} names their place.)"
            )
