"""Results of commands that predict and inspect."""

from dataclasses import dataclass
from typing import Any, ClassVar

from nodegraft.cli.results.result import Result


@dataclass(frozen=True)
class ClassProbability:
    """A class with its probability.

    Args:
        class_: Class name.
        probability: P(class | the node belongs to a known class).
    """

    class_: str
    probability: float


@dataclass(frozen=True)
class Prediction:
    """Prediction and label of one node.

    Args:
        node: Node key.
        class_: The label if the node has one, else the prediction.
        label: Label of the node; null without one.
        prediction: Predicted class; null where confidence is too low or the key is unknown.
        confidence: Probability times `known` in an open world, probability in a closed one.
        probability: P(class | the node belongs to a known class), of the most probable class.
        known: P(the node belongs to any known class); null without an estimate.
        reason: `own_label`, `prediction`, `below_confidence` or `unknown_key`.
        top: The most probable classes, best first.
        set_: Set of classes that contains the node's class with probability `--coverage`; null
            without this option.
    """

    node: str | int
    class_: str | None
    label: str | None
    prediction: str | None
    confidence: float | None
    probability: float | None
    known: float | None
    reason: str
    top: list[ClassProbability]
    set_: list[str] | None


@dataclass(frozen=True)
class Predictions(Result):
    """Predictions in the order of the keys. A table has the columns `class_1`, `probability_1` …
    instead of `top`.

    Args:
        model_version: Number of the version that predicts.
        graph_version: Hash of its graph.
        world: Whether nodes may belong to unknown classes, which decides what confidence means.
        predictions: One for each node.
        sets_note: For which classes the coverage holds one by one; null without `--coverage`.
    """

    TABLE: ClassVar[str] = "predictions"

    model_version: int
    graph_version: str
    world: str
    predictions: list[Prediction]
    sets_note: str | None


@dataclass(frozen=True)
class Explanation(Result):
    """Explanation of a prediction.

    Args:
        model_version: Number of the version that predicts.
        graph_version: Hash of its graph.
        node: Node key.
        label: Label of the node; null without one.
        explanation: Explanation by the method; for graft signals, labels and edge types.
    """

    model_version: int
    graph_version: str
    node: str | int
    label: str | None
    explanation: dict[str, Any]


@dataclass(frozen=True)
class Suggestion:
    """Node to label next.

    Args:
        node: Node key.
        prediction: Predicted class.
        second_class: Second most probable class.
        uncertainty: Uncertainty between the two classes, from 0 to 1.
        similar_nodes: Approximate number of similar uncertain nodes.
    """

    node: str | int
    prediction: str
    second_class: str
    uncertainty: float
    similar_nodes: float


@dataclass(frozen=True)
class NodeGroup:
    """Group of nodes that may be a new class.

    Args:
        nodes: Number of nodes.
        terms: Distinctive terms of their texts.
        examples: Keys of some of them.
    """

    nodes: int
    terms: list[str]
    examples: list[str | int]


@dataclass(frozen=True)
class Suggestions(Result):
    """Nodes to label next, and groups that may be a new class.

    Args:
        model_version: Number of the version.
        graph_version: Hash of its graph.
        suggestions: Nodes with most similar uncertain nodes first.
        new_classes: Groups of nodes, the largest first.
    """

    TABLE: ClassVar[str] = "suggestions"

    model_version: int
    graph_version: str
    suggestions: list[Suggestion]
    new_classes: list[NodeGroup]


@dataclass(frozen=True)
class Shift:
    """Drift of one measure.

    Args:
        measure: Name of the measure.
        before: Value before, in words.
        after: Value after.
        distance: Distance of the two values, from 0 to 1.
        noise: Distance that chance alone exceeds about once in twenty times.
        alarm: Whether the distance is above the threshold and above noise.
    """

    measure: str
    before: str
    after: str
    distance: float
    noise: float
    alarm: bool


@dataclass(frozen=True)
class Drift(Result):
    """Drift between the version `compared_with` and a later one, `model_version`.

    Args:
        model_version: Number of the version after.
        graph_version: Hash of its graph.
        compared_with: Number of the version before.
        threshold: Alarm threshold of the distance.
        shifts: One for each measure.
    """

    TABLE: ClassVar[str] = "shifts"

    model_version: int
    graph_version: str
    compared_with: int
    threshold: float
    shifts: list[Shift]


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
class SuspiciousLabel:
    """Label that disagrees with the other labels.

    Args:
        node: Node key.
        label: Its label.
        suggested: The likeliest other class, by a model that did not learn the label.
        label_probability: P(label), by that model.
        suggested_probability: P(suggested class), by that model.
        reason: Why the label is suspicious.
    """

    node: str | int
    label: str
    suggested: str
    label_probability: float
    suggested_probability: float
    reason: str


@dataclass(frozen=True)
class LabelAudit(Result):
    """Labels that are probably wrong.

    Args:
        model_version: Number of the version that was audited.
        graph_version: Hash of its graph.
        labels: The most suspicious first; only labels for which another class is likelier.
    """

    TABLE: ClassVar[str] = "labels"

    model_version: int
    graph_version: str
    labels: list[SuspiciousLabel]


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
