"""Results of commands about stores: tables, versions, and what a version shows."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.analysis.results import nodes, versions
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


@dataclass(frozen=True, kw_only=True)
class NewVersion(versions.Changed):
    """New version of a store.

    Args:
        live: Number of the live version.
        candidate: Number of the version that waits for review; null without one.
        card: File of the model card of a version that is live; null without one.
    """

    live: int
    candidate: int | None
    card: str | None


@dataclass(frozen=True)
class History(Result):
    """Versions of a store.

    Args:
        live: Number of the live version.
        newest: Number of the newest version.
        candidate: Number of the version that waits for review; null without one.
        pruned: Numbers of the pruned versions.
        history: Changes, newest first.
    """

    TABLE: ClassVar[str] = "history"

    live: int
    newest: int
    candidate: int | None
    pruned: list[int]
    history: list[versions.HistoryEntry]


@dataclass(frozen=True, kw_only=True)
class Promoted(versions.Promoted):
    """The new live version.

    Args:
        card: File of its model card; null if it was not written.
    """

    card: str | None


@dataclass(frozen=True, kw_only=True)
class Suggestions(nodes.Suggestions):
    """Nodes to label next, and groups that may be a new class.

    Args:
        new_classes: Groups of nodes, the largest first.
    """

    new_classes: list[nodes.NewClass]


@dataclass(frozen=True)
class Estimate:
    """Mean over seeds.

    Args:
        mean: The mean.
        half_width: Half the width of its 95 % interval; 0 for one seed.
        seeds: Number of seeds.
    """

    mean: float
    half_width: float
    seeds: int


@dataclass(frozen=True)
class MeasuredMethod:
    """Measurements of a method; accuracies are shares between 0 and 1.

    Args:
        method: Name of the method.
        first: Accuracy before the first new class.
        last: Accuracy over all classes, after the last new one.
        loss_per_class: Mean drop of accuracy per new class.
        session_seconds: Seconds of training and prediction of a session.
        macro_accuracy: Accuracy of every session, a list for each seed.
    """

    method: str
    first: Estimate
    last: Estimate
    loss_per_class: Estimate
    session_seconds: Estimate
    macro_accuracy: list[list[float]]


@dataclass(frozen=True)
class Evaluation(Result):
    """Methods compared on the labels of a store.

    Args:
        version: Number of the version with the labels.
        recommended: The method to use; null if the data cannot tell.
        advice: The recommendation as a sentence.
        setting: Numbers of classes of each role, of classes per session, and of labels.
        left_out: Class that has too few labels -> their number.
        methods: The methods, the best last accuracy first.
        lead: Difference of the two best last accuracies; null for a single method.
        page: The report that `--out` writes; null without it.
    """

    TABLE: ClassVar[str] = "methods"

    version: int
    recommended: str | None
    advice: str
    setting: dict[str, int]
    left_out: dict[str, int]
    methods: list[MeasuredMethod]
    lead: Estimate | None
    page: str | None


@dataclass(frozen=True)
class Card(Result):
    """Model card of a version.

    Args:
        model_version: Number of the version.
        markdown: The card as Markdown.
        file: File that `--out` writes; null without it.
    """

    model_version: int
    markdown: str
    file: str | None
