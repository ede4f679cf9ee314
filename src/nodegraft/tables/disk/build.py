"""Build a graph on disk from tables; each step needs only a limited amount of memory."""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import numpy as np

from nodegraft.base.errors import CheckpointError, ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.files.bundle import read_bundle, write_bundle
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.base.problems import Problems
from nodegraft.graph.disk.mapped import Manifest
from nodegraft.graph.disk.mapped_keys import MappedKeys
from nodegraft.graph.keys import KeyType
from nodegraft.tables.columns import (
    Source,
    SourceTable,
    column_names,
    require_columns,
)
from nodegraft.tables.data_report import DataReport, Finding
from nodegraft.tables.disk.edges import EdgeSorter
from nodegraft.tables.disk.features import write_features
from nodegraft.tables.disk.folder import MEMORY, BuildFolder, Step, StoredArrays
from nodegraft.tables.disk.keys import mapped_keys, write_keys
from nodegraft.tables.disk.save import save_mapped
from nodegraft.tables.edges import EdgeColumns, read_edges
from nodegraft.tables.features.choice import FeatureChoice
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.features.text import FEWEST_DOCUMENTS
from nodegraft.tables.features.text_encoders import TFIDF
from nodegraft.tables.files import TableFiles
from nodegraft.tables.keys import check_key_type, in_one_key_type, key_column, stored_keys
from nodegraft.tables.labels import LABEL
from nodegraft.tables.node_rows import repeated_keys
from nodegraft.tables.read import Tables, raise_problems, read_tables
from nodegraft.tables.sql.place import is_database
from nodegraft.tables.storage import RECIPE, load_graph
from nodegraft.tables.streamed import stream_source
from nodegraft.tables.typed_sources import is_typed


def build_graph(
    nodes: Source,
    edges: Source,
    folder: str | Path,
    *,
    key: str | Mapping[str, str] = "key",
    key_type: KeyType | None = None,
    source: str = "source",
    target: str = "target",
    edge_type: str | None = None,
    edge_weight: str | None = None,
    directed: bool | Iterable[str] = False,
    text: str | Iterable[str] = (),
    features: str | Iterable[str] | None = (),
    categories: str | Iterable[str] = (),
    encoder: str | Iterable[str] = TFIDF,
    min_documents: int = FEWEST_DOCUMENTS,
    stop_words: Literal["english"] | None = None,
    recipe: FeatureRecipe | None = None,
    repair: bool = False,
    delimiter: str | None = None,
    memory: int = MEMORY,
    listener: Listener = SILENT,
) -> Tables:
    """Build a graph on disk from tables that may be larger than memory.

    The graph is equal to the graph that :func:`nodegraft.read_tables` reads from the same tables.
    Open it with :func:`nodegraft.load_graph`. Parquet files and folders are read in batches. All
    other tables must fit into memory, and so must the distinct words of text columns with their
    counts. An interrupted build resumes after its last finished step. Tables of several node types
    are read into memory first, and such a build does not resume.

    Args:
        nodes: Node table with one row for each node; a folder of Parquet files, or as in
            :func:`nodegraft.read_tables`.
        edges: Edge table with one row for each edge; None for a graph without edges.
        folder: A new folder, or the folder of an interrupted build of the same graph.
        key: Column of ``nodes`` with node keys; or a mapping from node type to this column.
        key_type: Type of all node keys, see :func:`nodegraft.read_tables`.
        source: Column of ``edges`` with the source node's key.
        target: Column of ``edges`` with the target node's key.
        edge_type: Column of ``edges`` with the edge type; None if all edges have the same type.
        edge_weight: Column of ``edges`` with the weight; None if all weights are 1.
        directed: Whether edges have a direction; or the names of the directed edge types.
        text: Names of text columns; ``encoder`` converts them to features.
        features: Names of columns with numbers or lists of numbers. None for a graph without
            features.
        categories: Names of category columns, which have few different values.
        encoder: Text encoder, or several, see :func:`nodegraft.read_tables`.
        min_documents: Minimum number of nodes whose text has a word; rarer words are left out.
        stop_words: ``"english"`` to leave out the most common English words; None to use all words.
        recipe: Feature recipe of another graph or of a model, instead of column names.
        repair: Whether to correct the tables automatically, see :func:`nodegraft.read_tables`.
        delimiter: Column separator of CSV files; None to guess it from their headers.
        memory: Approximate memory limit in bytes; a lower limit gives more and smaller batches.
        listener: Listener that receives progress events.
    """
    validate_value("repair", repair, bool)
    validate_value("memory", memory, PositiveInt)
    check_key_type(key_type)
    chosen: dict[str, Any] = {
        "text": text,
        "features": features,
        "categories": categories,
        "recipe": recipe,
        "encoder": encoder,
        "min_documents": min_documents,
        "stop_words": stop_words,
    }
    if is_typed(nodes):
        tables = read_tables(
            nodes,
            edges,
            key=key,
            key_type=key_type,
            source=source,
            target=target,
            edge_type=edge_type,
            edge_weight=edge_weight,
            directed=directed,
            repair=repair,
            delimiter=delimiter,
            listener=listener,
            **chosen,
        )
        return replace(tables, graph=save_mapped(tables.graph, Path(folder)))
    if not isinstance(key, str):
        raise ParameterError(f"key={key!r} is for node tables by type: nodes={{'product': …}}.")
    choice = FeatureChoice.of(**chosen)
    columns = EdgeColumns(source, target, edge_type, edge_weight)
    one_way = directed if isinstance(directed, bool) else column_names(directed)
    # An interrupted build is resumed only if this request is unchanged, because the result depends
    # on it.
    request = {
        "nodes": _identity(nodes),
        "edges": _identity(edges),
        "key": key,
        "key_type": key_type,
        "columns": columns,
        "directed": one_way,
        "chosen": choice.to_json(),
        "delimiter": delimiter,
    }
    # Use half of the limit, because a table batch and the records to sort are in memory at once.
    memory //= 2
    table = stream_source(nodes, "nodes", memory, (*choice.text_columns, key), delimiter)
    edge_table = None
    if edges is not None:
        edge_table = stream_source(edges, "edges", memory, columns.texts, delimiter)
    choice = choice.expanded(table, (key, LABEL))
    # Check column names before the slow steps, so that a wrong name is reported immediately.
    require_columns({"nodes": (table, (key, *choice.columns)), "edges": (edge_table, columns)})
    if not len(table):
        key_column(table, key)
    table, edge_table = in_one_key_type([(table, (key,)), (edge_table, columns.ends)], key_type)
    try:
        build = _Build(BuildFolder(Path(folder), request), table, key, memory, repair, listener)
        return build.run(choice, edge_table, columns, one_way)
    except OSError as error:
        raise CheckpointError(
            f"{folder} cannot be written: {error}. Run the same build again to resume."
        ) from error


def _identity(source: Source) -> Any:
    """Return a JSON value that changes when a table's files change.

    For a table that is not in files, the value is random.
    """
    if source is None:
        return None
    is_file = isinstance(source, str | Path) and not is_database(source)
    return TableFiles.of(source).identity() if is_file else uuid4().hex


class _Build:
    """Runner of the steps of a graph build; steps that an earlier run finished are skipped."""

    def __init__(
        self,
        folder: BuildFolder,
        table: SourceTable,
        key: str,
        memory: int,
        repair: bool,
        listener: Listener,
    ) -> None:
        self._folder, self._table, self._key = folder, table, key
        self._memory, self._repair, self._listener = memory, repair, listener
        self._findings = list[Finding]()

    def run(
        self,
        choice: FeatureChoice,
        edges: SourceTable | None,
        columns: EdgeColumns,
        directed: bool | Iterable[str],
    ) -> Tables:
        """Run all unfinished build steps, then open the finished graph."""
        folder, problems = self._folder, Problems()
        keys = self._reported(folder.finished("keys") or self._write_keys())
        self._table = self._table.without(np.array(keys.document["dropped"], dtype=np.int64))
        node_keys = mapped_keys(folder, keys.arrays)
        # Run all steps before any error is raised, so that it lists the problems of all tables.
        with problems.collect():
            recipe = self._recipe(choice)
            features = self._reported(
                folder.finished("features") or self._write_features(recipe, node_keys)
            )
        with problems.collect():
            edge_step = self._reported(
                folder.finished("edges") or self._write_edges(node_keys, edges, columns, directed)
            )
        raise_problems(problems, self._findings, self._repair)
        count = len(self._table), edge_step.document["num_edges"], recipe.num_features
        report = DataReport(*count, tuple(self._findings))
        report.require_usable(self._repair)
        arrays = {**keys.arrays, **features.arrays, **edge_step.arrays}
        relations = tuple(edge_step.document["relations"])
        sizes = len(node_keys), recipe.num_features
        folder.close(Manifest(*sizes, relations, recipe.content_hash, arrays))
        return Tables(load_graph(folder.place), report)

    def _reported(self, step: Step) -> Step:
        """Add the findings of a build step to the report; return the step."""
        self._findings += [Finding(*finding.values()) for finding in step.document["findings"]]
        return step

    def _write_keys(self) -> Step:
        arrays, repeated = self._keys_of(self._table)
        findings = list[Finding]()
        if repeated.size:
            named = mapped_keys(self._folder, arrays).array_at(repeated)
            findings = repeated_keys(self._table, self._key, repeated, named)
            arrays, _ = self._keys_of(self._table.without(repeated))
        return self._finish("keys", arrays, findings, dropped=repeated.tolist())

    def _keys_of(self, table: SourceTable) -> tuple[StoredArrays, Any]:
        batches = (stored_keys(batch, self._key) for batch in table.batches(self._key))
        return write_keys(self._folder, batches, len(table), self._memory, self._listener)

    def _recipe(self, choice: FeatureChoice) -> FeatureRecipe:
        place = self._folder.place / RECIPE
        if not self._folder.finished("recipe"):
            shutil.rmtree(place, ignore_errors=True)
            write_bundle(place, *choice.fitted(self._table, self._key).state())
            self._folder.finish("recipe", {}, {})
        return FeatureRecipe.from_state(*read_bundle(place))

    def _write_features(self, recipe: FeatureRecipe, keys: MappedKeys) -> Step:
        arrays, findings = write_features(self._folder, self._table, recipe, keys, self._listener)
        return self._finish("features", arrays, findings)

    def _write_edges(
        self,
        keys: MappedKeys,
        table: SourceTable | None,
        columns: EdgeColumns,
        directed: bool | Iterable[str],
    ) -> Step:
        expected = 0 if table is None else len(table)
        sorter = EdgeSorter(self._folder, len(keys), columns, directed, self._memory, expected)
        number = 0
        for batch in () if table is None else table.batches(*filter(None, columns)):
            sorter.add(read_edges(batch, columns, keys))
            number += len(batch)
            self._listener.step("edges", number, expected)
        arrays, relations, num_edges, findings = sorter.write()
        return self._finish("edges", arrays, findings, relations=relations, num_edges=num_edges)

    def _finish(
        self, step: str, arrays: StoredArrays, findings: list[Finding], **more: Any
    ) -> Step:
        document = {**more, "findings": [asdict(finding) for finding in findings]}
        return self._folder.finish(step, arrays, document)
