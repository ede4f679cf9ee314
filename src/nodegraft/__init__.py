"""Teach a graph model new classes from a handful of labelled nodes, without forgetting the old."""

from nodegraft.benchmark.protocol import evaluate
from nodegraft.datasets.base import REGISTRY as _DATASETS
from nodegraft.datasets.base import load_dataset
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import Labelled
from nodegraft.graph.split import ClassSplit, Setting
from nodegraft.graph.stream import ClassStream
from nodegraft.graph.tables import read_labels, read_tables
from nodegraft.methods.base import REGISTRY as _METHODS
from nodegraft.methods.base import Method, load_model, make_method
from nodegraft.methods.graft import Graft

list_methods = _METHODS.names
list_datasets = _DATASETS.names

__all__ = [
    "ClassSplit",
    "ClassStream",
    "Graft",
    "Graph",
    "Labelled",
    "Method",
    "Setting",
    "evaluate",
    "list_datasets",
    "list_methods",
    "load_dataset",
    "load_model",
    "make_method",
    "read_labels",
    "read_tables",
]
