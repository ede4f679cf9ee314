"""Results of commands that inspect a version."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.analysis.results import nodes
from nodegraft.analysis.results.result import Result


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
