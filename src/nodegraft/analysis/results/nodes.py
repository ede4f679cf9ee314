"""Results about nodes: predictions, explanations, suggestions and suspicious labels."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from nodegraft.analysis.results.result import NodeKey, Result, VersionResult, example

Reason = Literal["own_label", "prediction", "ancestor", "below_confidence", "unknown_key"]
"""Source of a node's class, or the reason why it has none."""


@dataclass(frozen=True)
class ClassProbability(Result):
    """A class with its probability.

    Args:
        class_: Class name.
        probability: P(class | the node belongs to a known class).
    """

    class_: str = field(metadata=example("hats", alias="class"))
    probability: float = field(metadata=example(0.97))


@dataclass(frozen=True)
class Prediction(Result):
    """Prediction and label of one node.

    Args:
        node: Node key.
        class_: Label of the node if it has one, otherwise the prediction.
        label: Label of the node; null if it has none.
        prediction: Predicted class; its lowest ancestor with enough confidence if there is a class
            tree; null if confidence is too low or the key is unknown.
        confidence: Probability times `known` in an open world, probability in a closed world; null
            for an unknown key.
        probability: P(class | the node belongs to a known class), of the predicted class, or of the
            most probable class if `prediction` is null.
        known: P(the node belongs to any known class); null without an estimate, and then confidence
            equals the probability.
        reason: Source of `class` (`own_label`, `prediction`, or `ancestor` for an ancestor of the
            most probable class), or the reason why it is null (`below_confidence`, `unknown_key`).
        top: Most probable classes, the most probable first; empty for an unknown key.
        set_: Prediction set: classes that include the node's class with probability `coverage`, the
            most probable first; null without `coverage`, empty for an unknown key.
        leaf: Most probable class, also if the prediction is an ancestor or withheld; only in stores
            with a class tree, as `depth`.
        depth: Number of ancestors of the predicted class; null if `prediction` is null.
    """

    node: NodeKey = field(metadata=example("p7"))
    class_: str | None = field(metadata=example("hats", alias="class"))
    label: str | None = field(metadata=example(None))
    prediction: str | None = field(metadata=example("hats"))
    confidence: float | None = field(metadata=example(0.95))
    probability: float | None = field(metadata=example(0.97))
    known: float | None = field(metadata=example(0.98))
    reason: Reason = field(metadata=example("prediction"))
    top: list[ClassProbability]
    set_: list[str] | None = field(metadata=example(None, alias="set"))
    leaf: str | None = field(default=None, metadata=example("hats"))
    depth: int | None = field(default=None, metadata=example(0))


@dataclass(frozen=True, kw_only=True)
class Predictions(VersionResult):
    """Predictions in the order of the requested keys.

    A table has the columns `class_1`, `probability_1` … instead of `top`.

    Args:
        world: Whether nodes may belong to unknown classes, which changes the meaning of confidence.
        predictions: Prediction for each requested key.
        sets_note: Sentence on the coverage of prediction sets: the classes for which it holds
            individually, and those for which it holds only together; null without `coverage`.
        rows_note: Sentences about values of new rows that are treated as missing, such as an
            unknown category; null if there are none.
    """

    TABLE: ClassVar[str] = "predictions"

    world: Literal["open", "closed"] = field(metadata=example("open"))
    predictions: list[Prediction]
    sets_note: str | None = field(metadata=example(None))
    rows_note: str | None = field(metadata=example(None))


@dataclass(frozen=True, kw_only=True)
class Explanation(VersionResult):
    """Explanation of a prediction.

    Args:
        node: Node key.
        explanation: Explanation in the format of the method, with `confidence`, `probability`,
            `known` and `world`. The method graft adds the signals, labels and edge types that
            contribute. `note` says if the estimated share of nodes of known classes is missing, or
            changes confidence by more than a factor of two.
        label: Label of the node; null if it has none.
    """

    node: NodeKey = field(metadata=example("p7"))
    explanation: dict[str, Any]
    label: str | None = field(metadata=example("hats"))


@dataclass(frozen=True)
class Suggestion(Result):
    """Suggested node to label next.

    Args:
        node: Node key.
        prediction: Predicted class.
        second_class: Second most probable class.
        uncertainty: 1 minus the difference between the probabilities of these two classes.
        similar_nodes: Approximate number of similar uncertain nodes: the sum of the uncertainties
            of all nodes in the node's group.
    """

    node: NodeKey = field(metadata=example("p7"))
    prediction: str = field(metadata=example("hats"))
    second_class: str = field(metadata=example("caps"))
    uncertainty: float = field(metadata=example(0.98))
    similar_nodes: float = field(metadata=example(12.5))


@dataclass(frozen=True, kw_only=True)
class Suggestions(VersionResult):
    """Nodes to label next.

    Args:
        suggestions: Suggested nodes; those with the most similar uncertain nodes are first.
    """

    TABLE: ClassVar[str] = "suggestions"

    suggestions: list[Suggestion]


@dataclass(frozen=True)
class NewClass(Result):
    """Group of nodes that are similar to each other but belong to no known class.

    Args:
        size: Number of nodes in the group, counting only nodes of the examined sample.
        top_terms: Distinctive terms in the texts of the nodes; empty without text features.
        examples: Keys of the nodes nearest to the centre of the group.
    """

    size: int = field(metadata=example(31))
    top_terms: tuple[str, ...] = field(metadata=example(["battery", "motor"]))
    examples: tuple[NodeKey, ...] = field(metadata=example(["p91007", "p91008", "p91020"]))


@dataclass(frozen=True, kw_only=True)
class SuggestedClasses(VersionResult):
    """Groups of nodes that may be a new class.

    Args:
        groups: All groups, the largest first.
    """

    groups: list[NewClass]


@dataclass(frozen=True)
class SuspiciousLabel(Result):
    """Label that contradicts the prediction of a model trained without it.

    Args:
        node: Node key.
        label: Current label of the node.
        suggested: Most probable other class, according to the model trained without the label.
        label_probability: Probability of the label, according to this model.
        suggested_probability: Probability of the suggested class, according to this model.
        reason: Sentence that explains why the label is suspicious.
    """

    node: NodeKey = field(metadata=example("p7"))
    label: str = field(metadata=example("caps"))
    suggested: str = field(metadata=example("hats"))
    label_probability: float = field(metadata=example(0.02))
    suggested_probability: float = field(metadata=example(0.9))
    reason: str = field(
        metadata=example("Without this label, hats has 90.0 % and caps 2.0 %; no neighbour …")
    )


@dataclass(frozen=True, kw_only=True)
class LabelAudit(VersionResult):
    """Labels that are probably wrong.

    Args:
        labels: Suspicious labels for which another class is more probable, the most suspicious
            first.
    """

    TABLE: ClassVar[str] = "labels"

    labels: list[SuspiciousLabel]
