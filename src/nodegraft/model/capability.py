"""Optional capabilities of a method, beyond learning and scoring."""

from enum import StrEnum


class Capability(StrEnum):
    """Optional capability, which a caller can check before it relies on it."""

    ADD_LABELS = "learn more of a known class"
    SET_LABELS = "take other labels"
    REMOVE_CLASSES = "remove a class"
    UNDO = "remove a class without a trace"
    EXPLAIN = "explain a prediction"
    CALIBRATED = "give calibrated confidence"
    EMBED = "embed nodes"
    PUBLISHED = "be evaluated as published"
