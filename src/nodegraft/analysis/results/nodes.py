"""Results about nodes: predictions, explanations, suggestions and suspicious labels."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from nodegraft.analysis.results.result import NodeKey, Result, VersionResult, example

Reason = Literal["own_label", "prediction", "below_confidence", "unknown_key"]
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
        class_: The label if the node has one, else the prediction.
        label: Label of the node; null without one.
        prediction: Predicted class; null where confidence is too low or the key is unknown.
        confidence: Probability times `known` in an open world, probability in a closed one; null
            for an unknown key.
        probability: P(class | the node belongs to a known class), of the most probable class.
        known: P(the node belongs to any known class); null without an estimate, where confidence is
            the probability alone.
        reason: Where `class` comes from (`own_label`, `prediction`), or why it is null
            (`below_confidence`, `unknown_key`).
        top: The most probable classes, best first; empty for an unknown key.
        set_: Set of classes that contains the node's class with probability `coverage`, the most
            probable first; null without `coverage`, empty for an unknown key.
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


@dataclass(frozen=True, kw_only=True)
class Predictions(VersionResult):
    """Predictions in the order of the keys. A table has the columns `class_1`, `probability_1` …
    instead of `top`.

    Args:
        world: Whether nodes may belong to unknown classes, which decides what confidence means.
        predictions: One for each key.
        sets_note: For which classes the coverage holds one by one, and for which together; null
            without `coverage`.
        rows_note: Values of new rows that are treated as missing, such as an unknown category; null
            without any.
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
        explanation: Explanation by the method (for graft: signals, labels and edge types that
            contribute), with `confidence`, `probability`, `known` and `world`; `note` says if the
            estimated share of nodes of known classes changes confidence by more than a factor of
            two, or is missing.
        label: Label of the node; null without one.
    """

    node: NodeKey = field(metadata=example("p7"))
    explanation: dict[str, Any]
    label: str | None = field(metadata=example("hats"))


@dataclass(frozen=True)
class Suggestion(Result):
    """Node whose label would help most.

    Args:
        node: Node key.
        prediction: Predicted class.
        second_class: Second most probable class.
        uncertainty: 1 minus the difference of the two probabilities.
        similar_nodes: Approximate number of similar uncertain nodes: the sum of the uncertainty of
            its group.
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
        suggestions: Nodes with most similar uncertain nodes first.
    """

    TABLE: ClassVar[str] = "suggestions"

    suggestions: list[Suggestion]


@dataclass(frozen=True)
class NewClass(Result):
    """Group of nodes that are similar to each other and to no known class.

    Args:
        size: Number of nodes in the group, of those that were examined.
        top_terms: Distinctive terms of their texts; empty without text features.
        examples: Nodes nearest to the centre of the group.
    """

    size: int = field(metadata=example(31))
    top_terms: tuple[str, ...] = field(metadata=example(["battery", "motor"]))
    examples: tuple[NodeKey, ...] = field(metadata=example(["p91007", "p91008", "p91020"]))


@dataclass(frozen=True, kw_only=True)
class SuggestedClasses(VersionResult):
    """Groups of nodes that may be a new class.

    Args:
        groups: Groups, the largest first.
    """

    groups: list[NewClass]


@dataclass(frozen=True)
class SuspiciousLabel(Result):
    """Label that disagrees with the other labels.

    Args:
        node: Node key.
        label: Its label.
        suggested: The likeliest other class, by a model that did not learn the label.
        label_probability: P(label), by that model.
        suggested_probability: P(suggested class), by that model.
        reason: Why the label is suspicious.
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
        labels: The most suspicious first; only labels for which another class is likelier.
    """

    TABLE: ClassVar[str] = "labels"

    labels: list[SuspiciousLabel]
