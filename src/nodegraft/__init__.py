"""Add classes to a node classifier from a few labelled nodes, without forgetting the old ones."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nodegraft.base import errors
    from nodegraft.base.events import Listener, PrintProgress
    from nodegraft.evaluation.protocol import evaluate
    from nodegraft.graph.edges.relation import Relation
    from nodegraft.graph.graph import Graph
    from nodegraft.graph.keyed_labels import labels_from_numbers
    from nodegraft.graph.labels import NodeLabels
    from nodegraft.lab.datasets.templates.dataset import list_datasets, load_dataset
    from nodegraft.methods.graft import Graft
    from nodegraft.methods.hag_meta import HAGMeta
    from nodegraft.methods.multi_label import MultiLabel
    from nodegraft.model.method import Method
    from nodegraft.model.registry import list_methods, load_model, make_method
    from nodegraft.store.intent import Intent
    from nodegraft.store.store import Store
    from nodegraft.streams.setting import Setting
    from nodegraft.streams.split import ClassSplit
    from nodegraft.streams.stream import ClassStream
    from nodegraft.tables.disk.build import build_graph
    from nodegraft.tables.features.recipe import FeatureRecipe
    from nodegraft.tables.hetero import read_hetero, to_hetero
    from nodegraft.tables.labels import hold_out, read_labels
    from nodegraft.tables.read import grow_graph, grow_tables, read_graph, read_tables
    from nodegraft.tables.sql.write import write_table
    from nodegraft.tables.storage import load_graph, save_graph

# Module of each name. Names are imported on first use, so that a command or a script loads only
# what it needs. The imports above are for type checkers; a test checks that both are equal.
_HOMES = {
    "errors": "nodegraft.base.errors",
    "Listener": "nodegraft.base.events",
    "PrintProgress": "nodegraft.base.events",
    "list_datasets": "nodegraft.lab.datasets.templates.dataset",
    "load_dataset": "nodegraft.lab.datasets.templates.dataset",
    "evaluate": "nodegraft.evaluation.protocol",
    "Graph": "nodegraft.graph.graph",
    "NodeLabels": "nodegraft.graph.labels",
    "labels_from_numbers": "nodegraft.graph.keyed_labels",
    "Relation": "nodegraft.graph.edges.relation",
    "Graft": "nodegraft.methods.graft",
    "HAGMeta": "nodegraft.methods.hag_meta",
    "MultiLabel": "nodegraft.methods.multi_label",
    "Method": "nodegraft.model.method",
    "list_methods": "nodegraft.model.registry",
    "load_model": "nodegraft.model.registry",
    "make_method": "nodegraft.model.registry",
    "Setting": "nodegraft.streams.setting",
    "ClassSplit": "nodegraft.streams.split",
    "ClassStream": "nodegraft.streams.stream",
    "Intent": "nodegraft.store.intent",
    "Store": "nodegraft.store.store",
    "build_graph": "nodegraft.tables.disk.build",
    "FeatureRecipe": "nodegraft.tables.features.recipe",
    "hold_out": "nodegraft.tables.labels",
    "read_labels": "nodegraft.tables.labels",
    "grow_graph": "nodegraft.tables.read",
    "read_hetero": "nodegraft.tables.hetero",
    "to_hetero": "nodegraft.tables.hetero",
    "grow_tables": "nodegraft.tables.read",
    "read_graph": "nodegraft.tables.read",
    "read_tables": "nodegraft.tables.read",
    "write_table": "nodegraft.tables.sql.write",
    "load_graph": "nodegraft.tables.storage",
    "save_graph": "nodegraft.tables.storage",
}

__all__ = [
    "ClassSplit",
    "ClassStream",
    "FeatureRecipe",
    "Graft",
    "Graph",
    "HAGMeta",
    "Intent",
    "Listener",
    "Method",
    "MultiLabel",
    "NodeLabels",
    "PrintProgress",
    "Relation",
    "Setting",
    "Store",
    "build_graph",
    "errors",
    "evaluate",
    "grow_graph",
    "grow_tables",
    "hold_out",
    "labels_from_numbers",
    "list_datasets",
    "list_methods",
    "load_dataset",
    "load_graph",
    "load_model",
    "make_method",
    "read_graph",
    "read_hetero",
    "read_labels",
    "read_tables",
    "save_graph",
    "to_hetero",
    "write_table",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'nodegraft' has no attribute {name!r}")
    extra = import_module("nodegraft.base.extras").extra
    with extra("lab", package="nodegraft.lab", purpose=f"nodegraft.{name}"):
        home = import_module(_HOMES[name])
    globals()[name] = getattr(home, name, home)
    return globals()[name]


def __dir__() -> list[str]:
    return [*globals(), *__all__]
