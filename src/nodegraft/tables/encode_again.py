"""Replace the text encoders of a graph, and encode its texts with the new ones."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from nodegraft.base.errors import DataError, ParameterError
from nodegraft.base.events import Listener
from nodegraft.graph.edges.matrix import placed_rows
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.node_types import KEY, key_column
from nodegraft.tables.columns import Source, column_names, read_source
from nodegraft.tables.data_report import require_usable
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.node_rows import different_nodes
from nodegraft.tables.node_texts import NodeTexts

Encoders: TypeAlias = str | Iterable[str]
"""Name of a text encoder, or several names."""


@dataclass(frozen=True)
class TextEncoding:
    """Names of new text encoders for a graph, and the node table with the texts to encode.

    The table is needed because a graph stores features, not texts.
    """

    encoders: tuple[str, ...]
    """Names of the new text encoders."""

    nodes: Source
    """Node table with the texts to encode."""

    @classmethod
    def of(cls, encoder: Encoders | None, nodes: Source) -> "TextEncoding | None":
        """Create a text encoding from optional arguments; None if both arguments are None."""
        if encoder is None and nodes is None:
            return None
        names = column_names(encoder)
        if not names or nodes is None:
            raise ParameterError(
                "A text encoder and the table of nodes with their texts go together: give "
                "encoder=… (--encoder) and nodes=… (--nodes)."
            )
        return cls(names, nodes)

    def applied(
        self, graph: Graph, options: Mapping[str, Any], listener: Listener
    ) -> tuple[Graph, NodeTexts | None]:
        """Return the graph with newly encoded texts, and the nodes' texts for display.

        Encoders of columns without text do not change.

        Args:
            options: Options for reading the node table; only ``key`` and ``delimiter`` are used.
        """
        recipe = graph.recipe
        if not isinstance(recipe, FeatureRecipe):
            raise DataError("This graph was not read from tables, so it has no text encoder.")
        if graph.is_on_disk:
            raise DataError(
                "A graph on disk is encoded when it is built: build it again from its tables with "
                "--encoder, and create a new store with the labels of this one."
            )
        types, rows = graph.node_types, graph.targets
        if recipe.columns_of(types[0] if types else "") != recipe.columns:
            raise DataError(
                "Nodes of several types have features, and refit encodes those of one type: create "
                "a new store with --encoder and the labels of this one."
            )
        key = key_column(options.get("key", KEY), types)
        columns = *recipe.text_columns, key
        table = read_source(self.nodes, "nodes", columns, options.get("delimiter"))
        table = table.with_keys([key], graph.node_keys.key_type)
        table, keys, findings = different_nodes(table, key)
        places = NodeKeys(keys).find(graph.key_array_of(rows))
        missing = np.flatnonzero(places < 0)
        if missing.size:
            examples = ", ".join(map(str, graph.keys_of(rows[missing[:3]])))
            raise DataError(
                f"{missing.size:,} of {rows.size:,} nodes of the store are not in the table "
                f"(for example {examples}): give a table of all nodes."
            )
        table = table.take(places)
        new = recipe.with_encoder(self.encoders, table)
        encoded = new.encode(table, graph.key_array_of(rows), listener)
        findings += encoded.findings
        require_usable(findings, False, "\n".join(map(str, findings)))
        texts, matrix = new.texts(table), encoded.matrix
        if rows.size < graph.num_nodes:
            matrix = placed_rows(matrix, rows, graph.num_nodes)
            texts = texts and texts.placed(rows, graph.num_nodes)
        return graph.with_features(matrix, new), texts
