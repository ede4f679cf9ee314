"""Results of commands that read tables and create stores and graphs."""

from dataclasses import dataclass

from nodegraft.analysis.results.result import Result


@dataclass(frozen=True)
class Example(Result):
    """Example tables.

    Args:
        folder: Folder of the tables.
        files: Names of the files.
    """

    folder: str
    files: list[str]


@dataclass(frozen=True)
class Finding:
    """Finding about tables.

    Args:
        message: What was found.
        count: Number of nodes, edges or rows.
        examples: Some of them.
        repair: What was done about it, or would be; empty if the tables can be used as they are.
    """

    message: str
    count: int
    examples: list[str]
    repair: str


@dataclass(frozen=True)
class CreatedStore(Result):
    """New store.

    Args:
        store: Folder of the store.
        model_version: Number of its first version, 1.
        graph_version: Hash of its graph.
        method: Name of the method.
        world: Whether nodes may belong to unknown classes.
        share_of_known_classes: Estimated share of unlabelled nodes that belong to known classes;
            null without an estimate.
        nodes: Number of nodes.
        edges: Number of undirected edges.
        features: Number of features.
        classes: Number of classes.
        labels: Number of labels.
        held_out: Number of held-out labels, which measure accuracy.
        accuracy: Held-out accuracy; null without held-out labels.
        findings: Findings about the tables.
    """

    store: str
    model_version: int
    graph_version: str
    method: str
    world: str
    share_of_known_classes: float | None
    nodes: int
    edges: int
    features: int
    classes: int
    labels: int
    held_out: int
    accuracy: float | None
    findings: list[Finding]


@dataclass(frozen=True)
class BuiltGraph(Result):
    """Graph on disk.

    Args:
        graph: Folder of the graph.
        nodes: Number of nodes.
        edges: Number of undirected edges.
        features: Number of features.
        findings: Findings about the tables.
    """

    graph: str
    nodes: int
    edges: int
    features: int
    findings: list[Finding]


@dataclass(frozen=True)
class Layers(Result):
    """Propagated features or embeddings on disk.

    Args:
        folder: Folder of the layers.
        blocks: Number of blocks that were computed; 0 if all were there.
    """

    folder: str
    blocks: int
