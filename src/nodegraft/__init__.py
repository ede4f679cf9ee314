"""Teach a graph model new classes from a handful of labelled nodes, without forgetting the old."""

from nodegraft.benchmark.protocol import evaluate
from nodegraft.datasets.base import REGISTRY as _DATASETS
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import Labelled
from nodegraft.graph.split import ClassSplit, Setting
from nodegraft.graph.stream import ClassStream
from nodegraft.graph.tables import read_labels, read_tables
from nodegraft.methods.base import REGISTRY as _METHODS
from nodegraft.methods.base import Method, load_model

list_methods = _METHODS.names
list_datasets = _DATASETS.names
method = _METHODS.get
dataset = _DATASETS.get

__all__ = [
    "ClassSplit",
    "ClassStream",
    "Graph",
    "Labelled",
    "Method",
    "Setting",
    "dataset",
    "evaluate",
    "list_datasets",
    "list_methods",
    "load_model",
    "method",
    "read_labels",
    "read_tables",
]
