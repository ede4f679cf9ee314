"""Request and response models that several routes share."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt, StrictStr

from nodegraft.analysis.version import Version, history_fields, version_fields
from nodegraft.service.auth.limits import MAX_KEYS
from nodegraft.store.intent import writable

Text = Annotated[StrictStr, AfterValidator(writable)]
"""Text that can be written to files: JSON may contain lone surrogates."""

NodeKey = Text | StrictInt
"""Node key: text or integer, as in the table of nodes."""

Keys = Annotated[list[NodeKey], Field(min_length=1, max_length=MAX_KEYS)]


def _limited(labels: dict[str, list[str | int]]) -> dict[str, list[str | int]]:
    if sum(map(len, labels.values())) > MAX_KEYS:
        raise ValueError(f"at most {MAX_KEYS:,} labels in one request")
    return labels


Labels = Annotated[dict[Text, Keys], Field(min_length=1), AfterValidator(_limited)]
"""Class -> keys of its nodes."""


class Model(BaseModel):
    """Base of all models; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class RequestModel(Model):
    """Base of request bodies; a value of another type, such as "0.9" for 0.9, is refused."""

    model_config = ConfigDict(strict=True)


class LabelChange(RequestModel):
    """Fields of every request that changes labels."""

    note: Text = Field(default="", max_length=2_000, examples=["asked for by sales"])
    """Reason for the change, stored in the history."""

    override: Text = Field(default="", max_length=2_000)
    """Reason to apply the change although held-out accuracy drops, stored in the history."""


class ErrorContent(Model):
    """What happened, and what to do."""

    code: str = Field(examples=["unknown_node"])
    """Identifier for programs."""

    message: str = Field(examples=["1 of 2 nodes is not in this graph: 'p0'."])
    """What happened."""

    what_to_do: str = Field(examples=["Omit these keys, or add them: POST /v1/nodes."])
    """What the caller can do."""

    objections: list[str] | None = None
    """Reasons of the quality gate to refuse a change."""


class ErrorResponse(Model):
    """Error."""

    error: ErrorContent
    """The error."""


class InferenceError(Model):
    """Error in the format of the Open Inference Protocol."""

    error: str = Field(examples=["There is no model 'x'. Use 'shop'."])
    """What happened, and what to do."""


def error_responses(model: type[Model]) -> dict[int | str, dict[str, Any]]:
    """Return the part of the OpenAPI document about errors."""
    return {status: {"model": model, "description": "Error"} for status in ("4XX", 422)}


class VersionResponse(Model):
    """Response about one version."""

    model_version: int = Field(examples=[3])
    """Number of the version that was read or made."""

    graph_version: str = Field(examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c"])
    """Hash of its graph."""


class HistoryEntry(Model):
    """Change that made a version."""

    version: int = Field(examples=[3])
    """Number of the version."""

    action: str = Field(examples=["add"])
    """Name of the command."""

    description: str = Field(examples=["add e-bikes (2)"])
    """The change in a few words."""

    detail: dict[str, Any] = Field(examples=[{"classes": {"e-bikes": ["p17", "p20"]}}])
    """Arguments of the change."""

    by: str = Field(examples=["ci"])
    """Author: name of a token or of a user."""

    note: str = Field(examples=["asked for by sales"])
    """Reason for the change."""

    at: datetime
    """Time in UTC."""

    accuracy_before: float | None = Field(examples=[0.912])
    """Held-out accuracy before the change."""

    accuracy_after: float | None = Field(examples=[0.911])
    """Held-out accuracy after it."""

    predictions_compared: int | None = Field(examples=[20000])
    """Number of nodes that were predicted before and after: all, or a random sample."""

    predictions_changed: int | None = Field(examples=[112])
    """Number of those predictions that changed."""

    @classmethod
    def of(cls, version: Version) -> "HistoryEntry":
        """Return the change that made a version."""
        return cls(**history_fields(version))


class Changed(VersionResponse):
    """New version; a request with the same idempotency key gets the same response."""

    change: HistoryEntry
    """The change that made it."""

    promoted: bool = Field(examples=[False])
    """Whether the new version was promoted at once."""

    warnings: list[str] = Field(examples=[["Class 'e-bikes' has only 1 example: …"]])
    """What to check before the version is promoted."""

    @classmethod
    def of(cls, version: Version) -> "Changed":
        """Return the response about a new version."""
        return cls(
            **version_fields(version),
            change=HistoryEntry.of(version),
            promoted=version.measures["request"]["promote"],
            warnings=version.measures.get("warnings", []),
        )


class ChangedClass(Model):
    """Number of predictions that change from one class to another."""

    before: str = Field(examples=["bikes"])
    """Predicted class before."""

    after: str = Field(examples=["e-bikes"])
    """Predicted class after."""

    nodes: int = Field(examples=[31])
    """Number of nodes."""


class ChangedNode(Model):
    """Node whose prediction changes."""

    node: NodeKey = Field(examples=["p91500"])
    """Its key."""

    before: str = Field(examples=["bikes"])
    """Predicted class before."""

    after: str = Field(examples=["e-bikes"])
    """Predicted class after."""

    confidence: float = Field(examples=[0.93])
    """Confidence of the prediction after."""


class Comparison(VersionResponse):
    """Predictions that differ between two versions, or that a change would change."""

    predictions_compared: int = Field(examples=[20000])
    """Number of nodes that were predicted before and after: all, or a random sample."""

    predictions_changed: int = Field(examples=[112])
    """Number of those predictions that change."""

    changes: list[ChangedClass]
    """Changes from class to class, the most frequent first."""

    examples: list[ChangedNode]
    """Some nodes whose prediction changes."""

    accuracy_before: float | None = Field(examples=[0.912])
    """Held-out accuracy before."""

    accuracy_after: float | None = Field(examples=[0.911])
    """Held-out accuracy after."""

    objections: list[str]
    """Reasons of the quality gate to refuse the change. With any, a change of labels is refused
    unless `override` gives a reason, and new nodes are not promoted at once."""

    warnings: list[str]
    """What to check first; warnings do not block the change."""
