"""Results of commands about stores: tables, versions, suggestions, evaluations, model cards."""

from dataclasses import dataclass, field
from typing import ClassVar

from nodegraft.analysis.results import nodes, versions
from nodegraft.analysis.results.result import Result


@dataclass(frozen=True)
class Example(Result):
    """Example tables that were written.

    Args:
        folder: Folder with the tables.
        files: File names of the tables.
    """

    folder: str
    files: list[str]


@dataclass(frozen=True)
class Finding:
    """Problem that was found in input tables.

    Args:
        message: Description of the problem.
        count: Number of affected nodes, edges or rows.
        examples: Examples of affected nodes, edges or rows.
        repair: Repair that was made or would be made; empty if the tables can be used as they are.
    """

    message: str
    count: int
    examples: list[str]
    repair: str


@dataclass(frozen=True)
class CreatedStore(Result):
    """Store that was created from tables.

    Args:
        store: Folder of the store.
        model_version: Number of the store's first version, 1.
        graph_version: Hash of the graph.
        method: Name of the method.
        world: Whether nodes may belong to unknown classes.
        share_of_known_classes: Estimated share of unlabelled nodes that belong to known classes;
            null without an estimate.
        nodes: Number of nodes.
        edges: Number of undirected edges, of all types together.
        features: Number of features.
        classes: Number of classes.
        labels: Number of labels.
        held_out: Number of held-out labels, which measure accuracy.
        accuracy: Held-out accuracy; null without held-out labels.
        findings: Problems that were found in the tables.
        warnings: Warnings about the labels.
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
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class BuiltGraph(Result):
    """Graph that was built on disk.

    Args:
        graph: Folder of the graph.
        nodes: Number of nodes.
        edges: Number of undirected edges, of all types together.
        features: Number of features.
        findings: Problems that were found in the tables.
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
        blocks: Number of blocks that were computed; 0 if all blocks existed already.
    """

    folder: str
    blocks: int


@dataclass(frozen=True, kw_only=True)
class NewVersion(versions.Changed):
    """New version of a store.

    Args:
        live: Number of the live version.
        candidate: Number of the version that waits for review; null if there is none.
        card: Path of the new version's model card; null if the version is not live.
    """

    live: int
    candidate: int | None
    card: str | None


@dataclass(frozen=True)
class History(Result):
    """History of a store.

    Args:
        live: Number of the live version.
        newest: Number of the newest version.
        candidate: Number of the version that waits for review; null if there is none.
        pruned: Numbers of the pruned versions.
        history: Changes that made the versions, newest first.
    """

    TABLE: ClassVar[str] = "history"

    live: int
    newest: int
    candidate: int | None
    pruned: list[int]
    history: list[versions.HistoryEntry]


@dataclass(frozen=True, kw_only=True)
class Promoted(versions.Promoted):
    """Version that was made live.

    Args:
        card: Path of the version's model card; null if it was not written.
    """

    card: str | None


@dataclass(frozen=True, kw_only=True)
class Suggestions(nodes.Suggestions):
    """Nodes to label next, and groups of nodes that may be a new class.

    Args:
        new_classes: Groups of nodes that may be a new class, the largest group first.
    """

    new_classes: list[nodes.NewClass]


@dataclass(frozen=True)
class Estimate:
    """Mean over seeds, with a confidence interval.

    Args:
        mean: Mean over seeds.
        half_width: Half the width of the 95 % interval of the mean; 0 for a single seed.
        seeds: Number of seeds.
    """

    mean: float
    half_width: float
    seeds: int


@dataclass(frozen=True)
class TreeMeasures:
    """Accuracy in the class tree after the last new class, as shares between 0 and 1.

    Args:
        leaf_accuracy: Share of nodes whose most probable class is their class.
        wrong_branch: Share of nodes whose most probable class has another highest ancestor than
            their class.
        coverage: Share of nodes with an answer: the lowest of the most probable class and its
            ancestors that has a confidence of 0.9 or more. Null without calibrated confidence.
        ancestor_accuracy: Share of answers that are the class of the node or an ancestor of it;
            null without an answer.
    """

    leaf_accuracy: Estimate
    wrong_branch: Estimate
    coverage: Estimate | None
    ancestor_accuracy: Estimate | None


@dataclass(frozen=True)
class MeasuredMethod:
    """Measurements of one method; accuracies are shares between 0 and 1.

    Args:
        method: Name of the method.
        first: Accuracy before the first new class.
        last: Accuracy over all classes, after the last new class.
        loss_per_class: Mean drop of accuracy per new class.
        session_seconds: Seconds of training and prediction per session.
        macro_accuracy: For each seed, the macro accuracy of every session.
        tree: Accuracy in the class tree; only in stores with a class tree.
    """

    method: str
    first: Estimate
    last: Estimate
    loss_per_class: Estimate
    session_seconds: Estimate
    macro_accuracy: list[list[float]]
    tree: TreeMeasures | None = None


@dataclass(frozen=True)
class Evaluation(Result):
    """Comparison of methods on the labels of a store.

    Args:
        version: Number of the version with the labels.
        recommended: Name of the recommended method; null if no method leads by more than noise.
        advice: Recommendation as a sentence.
        setting: Numbers of known and new classes, of new classes per session, and of labels per new
            class.
        left_out: Class that was excluded because it has too few labels -> number of its labels.
        methods: Measurements of all methods, the highest last accuracy first.
        lead: Difference between the two highest last accuracies; null for a single method.
        page: Path of the report that `--out` writes; null without `--out`.
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
        markdown: Model card as Markdown.
        file: Path of the file that `--out` writes; null without `--out`.
    """

    model_version: int
    markdown: str
    file: str | None
