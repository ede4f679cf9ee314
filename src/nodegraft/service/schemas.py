"""Request and response models that several routes share."""

from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    model_validator,
)
from pydantic_core import PydanticCustomError

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


ParentName = Annotated[Text, Field(min_length=1)] | None
"""Name of a parent in the class tree; null for no parent."""


class Model(BaseModel):
    """Base class of all models; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class RequestModel(Model):
    """Base class of request bodies; values of the wrong type are refused."""

    model_config = ConfigDict(strict=True)

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, body: Any) -> Any:
        """Refuse unknown fields with a list of all fields, because a client may guess names."""
        names = body if isinstance(body, dict) else ()
        if unknown := [name for name in names if name not in cls.model_fields]:
            close = get_close_matches(unknown[0], cls.model_fields, n=1)
            hint = f", did you mean {close[0]!r}?" if close else ","
            fields = ", ".join(cls.model_fields)
            message = f"unknown field {unknown[0][:80]!r}{hint} the fields are {fields}"
            # The whole message is one value, so that braces in a field name stay as they are.
            raise PydanticCustomError("unknown_field", "{message}", {"message": message})
        return body


class LabelChange(RequestModel):
    """Fields of every request that changes labels."""

    note: Text = Field(default="", max_length=2_000, examples=["asked for by sales"])
    """Reason for the change, stored in the history."""

    override: Text = Field(default="", max_length=2_000)
    """Reason to apply the change although held-out accuracy drops, stored in the history."""


class ErrorContent(Model):
    """Content of an error response: what happened, and what the caller can do."""

    code: str = Field(examples=["unknown_node"])
    """Identifier for programs."""

    message: str = Field(examples=["1 of 2 nodes is not in this graph: 'p0'."])
    """What happened."""

    what_to_do: str = Field(examples=["Omit these keys, or add them: POST /v1/nodes."])
    """What the caller can do."""

    objections: list[str] | None = None
    """Reasons why the quality gate refuses the change."""


class ErrorResponse(Model):
    """Response about an error."""

    error: ErrorContent
    """Content of the error."""


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
    """Number of the version that the request read or made."""

    graph_version: str = Field(examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c"])
    """Hash of the graph of this version."""
