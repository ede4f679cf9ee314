"""What new tables would change, in a terminal."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.text import Text

from nodegraft.base.counting import counted
from nodegraft.cli.display.preview import preview_lines
from nodegraft.cli.display.texts import Texts
from nodegraft.store.store import Store
from nodegraft.store.table_preview import TablePreview

if TYPE_CHECKING:
    from collections.abc import Callable

SHOWN = 8
"""So many classes that lose labels are named."""


def show_table_preview(place: Path, look: "Callable[[Store], TablePreview]") -> None:
    """Show what new tables would change in a store.

    Args:
        place: The folder of the store.
        look: Makes the preview.
    """
    console = Console()
    with Store.open(place) as store:
        with console.status("comparing tables"):
            seen = look(store)
        examples = seen.predictions.examples if seen.predictions else ()
        console.print(table_preview_lines(seen, store.texts([one.node for one in examples])))
    console.print("Nothing was changed.", highlight=False)


def table_preview_lines(seen: TablePreview, texts: Texts) -> RenderableType:
    """Return counts, classes that lose labels, predictions, and what speaks against the tables.

    Args:
        seen: What was compared.
        texts: Of the examples of its predictions.
    """
    changes, sizes = seen.changes, seen.sizes
    lines: list[RenderableType] = [
        Text(
            f"Nodes: {changes.added:,} added, {changes.removed:,} of {sizes.nodes:,} removed, "
            f"{changes.changed:,} with other features."
        ),
        Text(
            f"Edges: {changes.edges_added:,} added, {changes.edges_removed:,} of {sizes.edges:,} "
            "removed."
        ),
        Text(f"Labels: {changes.labels_lost:,} of {sizes.labels:,} removed."),
    ]
    if seen.lost:
        lines.append(Text(f"{counted(len(seen.lost), 'class')} would lose labels: {_lost(seen)}."))
    refused = [*seen.removals(), *seen.untaught_sentences()]
    lines += [Text(f"Against it: {sentence}", style="yellow") for sentence in refused]
    if seen.predictions:
        lines.append(preview_lines(seen.predictions, texts))
    return Group(*lines)


def _lost(seen: TablePreview) -> str:
    most = sorted(seen.lost.items(), key=lambda item: -item[1])
    named = ", ".join(f"{name} ({count:,})" for name, count in most[:SHOWN])
    more = len(most) - SHOWN
    return f"{named} and {more} more" if more > 0 else named
