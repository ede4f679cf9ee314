"""How many nodes a version takes for each class, and how many of these answers are unsure."""

from dataclasses import dataclass

from nodegraft.analysis.drift import SURE
from nodegraft.analysis.preview import SAMPLE
from nodegraft.analysis.snapshot import State
from nodegraft.model.hooks import Capability


@dataclass(frozen=True)
class ClassReach:
    """What is answered to be of one class."""

    answered: int
    """How many of the nodes asked about."""

    unsure: int | None
    """How many of them with a confidence below :data:`~nodegraft.analysis.drift.SURE`; None where
    the method gives no calibrated confidence, and cannot abstain."""


@dataclass(frozen=True)
class Reach:
    """What is answered about a fair sample of nodes."""

    asked: int
    """How many nodes were asked about: all, or a fair sample."""

    classes: dict[str, ClassReach]
    """Class name -> what is answered to be of it."""


def class_reach(state: State) -> Reach:
    """How far each class reaches beyond its labels.

    Args:
        state: The version.
    """
    rows = state.graph.sampled(SAMPLE, state.graph.rows[:0])
    found = state.answers(rows)
    unsure = found.confidence < SURE
    calibrated = Capability.CALIBRATED in state.model.capabilities()
    members = {name: found.classes == name for name in state.labels}
    classes = {
        name: ClassReach(int(own.sum()), int((own & unsure).sum()) if calibrated else None)
        for name, own in members.items()
    }
    return Reach(int(rows.size), classes)
