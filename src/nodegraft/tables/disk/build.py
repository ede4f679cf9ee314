"""From tables to a graph on disk, in steps of which each fits into memory."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from nodegraft.base.errors import CheckpointError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.keys import KeyType
from nodegraft.tables.columns import Source, column_names
from nodegraft.tables.disk.steps import BuildRequest, BuildSteps
from nodegraft.tables.edges import EdgeColumns
from nodegraft.tables.features.choice import FeatureChoice
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.keys import check_key_type
from nodegraft.tables.read import Tables

MEMORY = 1_000_000_000
"""So many bytes a build may use, unless it is told otherwise."""


def build_graph(
    nodes: Source,
    edges: Source,
    folder: str | Path,
    *,
    key: str = "key",
    key_type: KeyType | None = None,
    source: str = "source",
    target: str = "target",
    edge_type: str | None = None,
    edge_weight: str | None = None,
    directed: bool | Iterable[str] = False,
    text: str | Iterable[str] = (),
    features: str | Iterable[str] | None = (),
    categories: str | Iterable[str] = (),
    min_documents: int = 3,
    stop_words: Literal["english"] | None = None,
    recipe: FeatureRecipe | None = None,
    repair: bool = False,
    delimiter: str | None = None,
    memory: int = MEMORY,
    listener: Listener = SILENT,
) -> Tables:
    """Build a graph on disk from tables that need not fit into memory.

    It is the graph that :func:`nodegraft.read_tables` reads from the same tables, and answers the
    same; :func:`nodegraft.load_graph` opens it. Parquet is read piece by piece, a file or a folder
    of parts; tables of other kinds are held in memory. What is in memory whatever its size: the
    words of text columns with their counts. A build that was cut goes on where it was.

    Args:
        nodes: As in :func:`nodegraft.read_tables`; or a folder of Parquet files.
        edges: As in :func:`nodegraft.read_tables`; or a folder of Parquet files.
        folder: A new folder for the graph.
        key: As in :func:`nodegraft.read_tables`.
        key_type: As in :func:`nodegraft.read_tables`.
        source: As in :func:`nodegraft.read_tables`.
        target: As in :func:`nodegraft.read_tables`.
        edge_type: As in :func:`nodegraft.read_tables`.
        edge_weight: As in :func:`nodegraft.read_tables`.
        directed: As in :func:`nodegraft.read_tables`.
        text: As in :func:`nodegraft.read_tables`.
        features: As in :func:`nodegraft.read_tables`.
        categories: As in :func:`nodegraft.read_tables`.
        min_documents: As in :func:`nodegraft.read_tables`.
        stop_words: As in :func:`nodegraft.read_tables`.
        recipe: As in :func:`nodegraft.read_tables`.
        repair: As in :func:`nodegraft.read_tables`.
        delimiter: As in :func:`nodegraft.read_tables`.
        memory: So many bytes are used at once, about; less makes more and smaller pieces.
        listener: Is told how far it is.
    """
    validate_value("repair", repair, bool)
    validate_value("memory", memory, PositiveInt)
    check_key_type(key_type)
    chosen = FeatureChoice.of(
        text=text,
        features=features,
        categories=categories,
        recipe=recipe,
        min_documents=min_documents,
        stop_words=stop_words,
    )
    columns = EdgeColumns(source, target, edge_type, edge_weight)
    one_way = directed if isinstance(directed, bool) else column_names(directed)
    request = BuildRequest(nodes, edges, key, key_type, columns, one_way, chosen, memory, delimiter)
    try:
        return BuildSteps(Path(folder), request, listener).run(repair)
    except OSError as error:
        raise CheckpointError(
            f"{folder} cannot be written: {error}. Run the same build again to resume."
        ) from error
