"""The steps of a build: keys, recipe, features, edges; each is done once."""

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from nodegraft.base.events import Listener
from nodegraft.base.files.bundle import read_bundle, write_bundle
from nodegraft.graph.disk.manifest import Manifest
from nodegraft.graph.disk.mapped_keys import MappedKeys
from nodegraft.graph.keys import KeyType
from nodegraft.tables.columns import Source, SourceTable, require_columns
from nodegraft.tables.data_report import DataReport, Finding
from nodegraft.tables.disk.edges import EdgeSorter
from nodegraft.tables.disk.features import write_features
from nodegraft.tables.disk.folder import BuildFolder, Step
from nodegraft.tables.disk.keys import KeysWritten, mapped_keys, write_keys
from nodegraft.tables.edges import EdgeColumns, read_edges
from nodegraft.tables.features.choice import FeatureChoice
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.files import TableFiles
from nodegraft.tables.keys import in_one_key_type, key_column, stored_keys
from nodegraft.tables.labels import LABEL
from nodegraft.tables.read import Tables, repeated_keys
from nodegraft.tables.storage import RECIPE, load_graph
from nodegraft.tables.streamed import stream_source


@dataclass(frozen=True)
class BuildRequest:
    """What is to be built; the fields are arguments of :func:`nodegraft.build_graph`."""

    nodes: Source
    """The table of nodes."""

    edges: Source
    """The table of edges; None for none."""

    key: str
    """The column of keys."""

    key_type: KeyType | None
    """The type of all keys; None to let the tables decide."""

    columns: EdgeColumns
    """The columns of the table of edges."""

    directed: bool | tuple[str, ...]
    """Whether edges have a direction; or the kinds whose edges have one."""

    chosen: FeatureChoice
    """The columns that become features."""

    memory: int
    """So many bytes may be used."""

    delimiter: str | None = None
    """What separates the columns of CSV files; None to look at their headers."""

    def to_json(self) -> dict[str, Any]:
        """All that the result depends on; tables in memory are never the same."""
        return {
            "nodes": _identity(self.nodes),
            "edges": _identity(self.edges),
            "key": self.key,
            "key_type": self.key_type,
            "columns": self.columns,
            "directed": self.directed,
            "chosen": self.chosen.to_json(),
            "delimiter": self.delimiter,
        }


def _identity(source: Source) -> Any:
    if source is None:
        return None
    if not isinstance(source, str | Path):
        return uuid4().hex
    return TableFiles.of(source).identity()


class BuildSteps:
    """Runs the steps that are not finished yet.

    Args:
        folder: The folder of the graph.
        request: What is to be built.
        listener: Is told how far it is.
    """

    def __init__(self, folder: Path, request: BuildRequest, listener: Listener) -> None:
        self._request, self._listener = request, listener
        # A batch and what is sorted are in memory together.
        self._memory = request.memory // 2
        key, columns = request.key, request.columns
        table = self._opened(request.nodes, "nodes", (*request.chosen.text_columns, key))
        edges = None
        if request.edges is not None:
            edges = self._opened(request.edges, "edges", columns.texts)
        self._chosen = request.chosen.expanded(table, (key, LABEL))
        # Wrong names are refused here, before the long part.
        require_columns([(table, (key, *self._chosen.columns)), (edges, columns)])
        if not len(table):
            key_column(table, key)
        keyed = [(table, (key,)), (edges, columns.ends)]
        self._table, self._edges = in_one_key_type(keyed, request.key_type)
        self._folder = BuildFolder(folder, request.to_json())
        self._findings = list[Finding]()

    def _opened(self, source: Source, what: str, texts: tuple[str, ...]) -> SourceTable:
        return stream_source(source, what, self._memory, texts, self._request.delimiter)

    def run(self, repair: bool) -> Tables:
        """The graph, and the report on its tables.

        Args:
            repair: Whether to do what can be done about tables that need mending.
        """
        keys = self._folder.finished("keys") or self._write_keys(repair)
        self._table = self._table.without(np.array(keys.document["dropped"], dtype=np.int64))
        self._take(keys, 0, repair)
        found = mapped_keys(self._folder, keys.arrays)
        recipe = self._recipe()
        features = self._folder.finished("features") or self._write_features(recipe, found)
        self._take(features, 0, repair)
        edges = self._folder.finished("edges") or self._write_edges(found)
        report = self._take(edges, edges.document["num_edges"], repair, recipe.num_features)
        arrays = {**keys.arrays, **features.arrays, **edges.arrays}
        relations = tuple(edges.document["relations"])
        sizes = len(found), recipe.num_features
        self._folder.close(Manifest(*sizes, relations, recipe.content_hash, arrays))
        return Tables(load_graph(self._folder.place), report)

    def _take(self, step: Step, edges: int, repair: bool, features: int = 0) -> DataReport:
        """What is odd by now; who must mend tables hears of it before the next step."""
        self._findings += [Finding(*one.values()) for one in step.document["findings"]]
        report = DataReport(len(self._table), edges, features, tuple(self._findings))
        report.require_usable(repair)
        return report

    def _write_keys(self, repair: bool) -> Step:
        arrays, repeated = self._keys_of(self._table)
        findings = list[Finding]()
        if repeated.size:
            named = mapped_keys(self._folder, arrays).array_at(repeated)
            findings = repeated_keys(self._table, self._request.key, repeated, named)
            DataReport(len(self._table), 0, 0, tuple(findings)).require_usable(repair)
            arrays, _ = self._keys_of(self._table.without(repeated))
        document = {"dropped": repeated.tolist(), "findings": _plain(findings)}
        return self._folder.finish("keys", arrays, document)

    def _keys_of(self, table: SourceTable) -> KeysWritten:
        key = self._request.key
        batches = (stored_keys(batch, key) for batch in table.batches(key))
        return write_keys(self._folder, batches, len(table), self._memory, self._listener)

    def _recipe(self) -> FeatureRecipe:
        place = self._folder.place / RECIPE
        if not self._folder.finished("recipe"):
            shutil.rmtree(place, ignore_errors=True)
            write_bundle(place, *self._chosen.fitted(self._table, self._request.key).state())
            self._folder.finish("recipe", {}, {})
        return FeatureRecipe.from_state(*read_bundle(place))

    def _write_features(self, recipe: FeatureRecipe, keys: MappedKeys) -> Step:
        written = write_features(self._folder, self._table, recipe, keys, self._listener)
        document = {"findings": _plain(written.findings)}
        return self._folder.finish("features", written.arrays, document)

    def _write_edges(self, keys: MappedKeys) -> Step:
        request, table = self._request, self._edges
        expected = 0 if table is None else len(table)
        sorter = EdgeSorter(
            self._folder,
            len(keys),
            request.columns,
            request.directed,
            memory=self._memory,
            expected=expected,
        )
        if table is not None:
            done = 0
            for batch in table.batches(*filter(None, request.columns)):
                sorter.add(read_edges(batch, request.columns, keys))
                done += len(batch)
                self._listener.step("edges", done, expected)
        written = sorter.write()
        document = {
            "relations": written.relations,
            "num_edges": written.num_edges,
            "findings": _plain(written.findings),
        }
        return self._folder.finish("edges", written.arrays, document)


def _plain(findings: list[Finding]) -> list[dict[str, Any]]:
    return [asdict(one) for one in findings]
