"""The form of what callers send and of what they are answered, as far as routes share it."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt, StrictStr

from nodegraft.analysis.version import Version, describe_version
from nodegraft.service.auth.limits import MOST_KEYS
from nodegraft.store.intent import writable

Text = Annotated[StrictStr, AfterValidator(writable)]
"""JSON can spell half a letter, which no file could hold."""

NodeKey = Text | StrictInt
"""As in the table of nodes: text or integers."""

Keys = Annotated[list[NodeKey], Field(min_length=1, max_length=MOST_KEYS)]


def _bounded(labels: dict[str, list[str | int]]) -> dict[str, list[str | int]]:
    if sum(map(len, labels.values())) > MOST_KEYS:
        raise ValueError(f"at most {MOST_KEYS:,} labels in one request")
    return labels


Labels = Annotated[dict[Text, Keys], Field(min_length=1), AfterValidator(_bounded)]
"""Class -> keys of nodes, not more than one lesson may have."""


class Form(BaseModel):
    """A form; a field that it does not know is refused."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Told(Form):
    """What is wrong."""

    code: str = Field(examples=["unknown_node"])
    """One word for programs."""

    message: str = Field(examples=["1 of 2 nodes is not in this graph: 'p0'."])
    """What was given, and what is wrong with it."""

    what_to_do: str = Field(examples=["Leave these keys out, or add them: POST /v1/nodes."])
    """What helps."""

    objections: list[str] | None = None
    """What speaks against a change that was refused for what it costs."""


class Refused(Form):
    """An answer that is an error."""

    error: Told
    """What is wrong."""


class RefusedInference(Form):
    """The same as the Open Inference Protocol says it."""

    error: str = Field(examples=["There is no model 'x'. Ask 'shop'."])
    """What is wrong, and what helps."""


def refused_as(form: type[Form]) -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says of answers that are errors.

    Args:
        form: The form that they have.
    """
    return {kind: {"model": form, "description": "Refused"} for kind in ("4XX", 422)}


class Answer(Form):
    """An answer. It is that of one version, which it names."""

    model_version: int = Field(examples=[3])
    """The version that answered, or that was made."""

    graph_version: str = Field(examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c"])
    """The hash of its graph."""


class Session(Form):
    """What was done to a store, once."""

    id: int = Field(examples=[3])
    """The number of the version that it made."""

    action: str = Field(examples=["add"])
    """What was done."""

    what: str = Field(examples=["add e-bikes (2)"])
    """The same in a few words."""

    detail: dict[str, Any] = Field(examples=[{"classes": {"e-bikes": ["p17", "p20"]}}])
    """With what."""

    by: str = Field(examples=["ci"])
    """Who did it: the name of a token, or of a user."""

    note: str = Field(examples=["asked for by sales"])
    """Why."""

    at: datetime
    """When, in UTC."""

    accuracy_before: float | None = Field(examples=[0.912])
    """The share of held-out nodes that were answered rightly before."""

    accuracy_after: float | None = Field(examples=[0.911])
    """The same after it."""

    asked: int | None = Field(examples=[20000])
    """How many nodes were asked about before and after."""

    flipped: int | None = Field(examples=[112])
    """How many of them are answered differently."""

    @classmethod
    def of(cls, version: Version) -> "Session":
        """What made a version.

        Args:
            version: The version.
        """
        measures = version.measures
        return cls(
            id=version.number,
            action=version.action,
            what=describe_version(version),
            detail=version.detail,
            by=version.by,
            note=version.note,
            at=version.at,
            accuracy_before=measures.get("before", {}).get("accuracy"),
            accuracy_after=measures.get("after", {}).get("accuracy"),
            asked=measures.get("asked"),
            flipped=measures.get("flipped"),
        )


class Changed(Answer):
    """What a change did: the same answer whenever it is asked for with the same key."""

    session: Session
    """What was done."""

    promoted: bool = Field(examples=[False])
    """Whether the new version was to answer at once."""

    warnings: list[str] = Field(examples=[["Class 'e-bikes' has only 1 example: …"]])
    """What to look at before the version is promoted; it was made all the same."""

    @classmethod
    def of(cls, version: Version) -> "Changed":
        """What made a version.

        Args:
            version: The version.
        """
        return cls(
            model_version=version.number,
            graph_version=version.graph,
            session=Session.of(version),
            promoted=version.measures["request"]["promote"],
            warnings=version.measures.get("warnings", []),
        )
