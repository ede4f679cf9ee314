"""Read the parents of classes from a dict or a table."""

from collections.abc import Mapping

from nodegraft.base.errors import ClassNameError
from nodegraft.tables.columns import Source, read_source, require_columns

CLASS, PARENT = "class", "parent"
"""Column names of a table of classes."""

Parents = Mapping[str, str | None] | Source
"""Parents of classes: a mapping from class name to the name of its parent, None for no parent; or a
table with the columns ``class`` and ``parent``, in a file or in memory."""


def parents_by_class(parents: Parents) -> dict[str, str | None]:
    """Return a mapping from class name to the name of its parent; None for no parent.

    Args:
        parents: Mapping or table; blanks around names are stripped in a table, and an empty parent
            is no parent.

    Raises:
        ClassNameError: If a row of the table has no class, or a class has two parents.
    """
    if isinstance(parents, Mapping):
        return dict(parents)
    table = read_source(parents, "classes", (CLASS, PARENT))
    require_columns(
        {"classes": (table, (CLASS, PARENT))}, "Rename its columns to class and parent."
    )
    by_class: dict[str, str | None] = {}
    pairs = zip(table.texts(CLASS), table.texts(PARENT), strict=True)
    for place, (raw, above) in enumerate(pairs):
        name, parent = (raw or "").strip(), (above or "").strip() or None
        if not name:
            raise ClassNameError(f"Row {table.row_number(place)} of {table.place} has no class.")
        if by_class.setdefault(name, parent) != parent:
            raise ClassNameError(
                f"{table.place} names two parents of the class {name!r}: {by_class[name]!r} and "
                f"{parent!r}. Keep one."
            )
    return by_class
