"""Routes that ask: classes of nodes, why, and what to label next."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from nodegraft.service.inputs import Node, key_in, needs
from nodegraft.service.routes.found import ReadVersion
from nodegraft.service.schemas import Answer, Form, Keys, NodeKey
from nodegraft.service.tokens import Scope
from nodegraft.store.answers import answered
from nodegraft.store.suggestion import suggestions

ROUTER = APIRouter(prefix="/v1", tags=["asking"], dependencies=[needs(Scope.READ)])


class Question(Form):
    """Nodes whose class is asked for."""

    keys: Keys = Field(examples=[["p7", "p9"]])
    """Their keys."""

    top: int = Field(default=1, ge=1, le=100, examples=[3])
    """How many classes of each, the likeliest first."""

    min_confidence: float | None = Field(default=None, ge=0.0, le=1.0, examples=[0.9])
    """Answers that are less sure are kept back."""


class Likely(Form):
    """A class that a node may be of."""

    name: str = Field(serialization_alias="class", examples=["hats"])
    """Its name."""

    probability: float = Field(examples=[0.97])
    """How likely it is, among the known classes."""


class Predicted(Form):
    """The answer about one node."""

    node: NodeKey = Field(examples=["p7"])
    """Its key."""

    name: str | None = Field(serialization_alias="class", examples=["hats"])
    """Its class; null where the answer is kept back."""

    confidence: float = Field(examples=[0.95])
    """How sure that is: of the class, and of the node being of a known one."""

    top: list[Likely]
    """The likeliest classes, best first."""


class Predictions(Answer):
    """Answers in the order of the keys."""

    answers: list[Predicted]
    """One for each."""


class Explanation(Answer):
    """Why a node is answered as it is."""

    node: NodeKey = Field(examples=["p7"])
    """Its key."""

    explanation: dict[str, Any]
    """As the method says it: for graft the signals, labels and relations that spoke for it."""


class Suggested(Form):
    """A node whose label would tell much."""

    node: NodeKey = Field(examples=["p7"])
    """Its key."""

    answer: str = Field(examples=["hats"])
    """What it is taken for."""

    runner_up: str = Field(examples=["caps"])
    """What it may be instead."""

    unsure: float = Field(examples=[0.98])
    """How unsure that is, from 0 to 1."""

    like_it: float = Field(examples=[12.5])
    """For about how many unsure nodes it stands."""


class Suggestions(Answer):
    """Nodes to label next."""

    suggestions: list[Suggested]
    """Those that stand for most unsure ones first."""


@ROUTER.post("/predict")
def predict(question: Question, live: ReadVersion) -> Predictions:
    """The class of each node."""
    rows = live.state.graph.rows_of(question.keys)
    found = answered(live.state, rows, live.version, question.top, question.min_confidence)
    return Predictions(
        model_version=live.version,
        graph_version=live.graph_version,
        answers=[
            Predicted(
                node=node,
                name=name,
                confidence=sure,
                top=[
                    Likely(name=other, probability=share)
                    for other, share in zip(classes, shares, strict=True)
                ],
            )
            for node, name, sure, classes, shares in zip(
                found.nodes,
                found.answers,
                found.confidence.tolist(),
                found.classes,
                found.probabilities.tolist(),
                strict=True,
            )
        ],
    )


@ROUTER.get("/explain")
def explain(node: Node, live: ReadVersion) -> Explanation:
    """Why a node is answered as it is."""
    key = key_in(live.state.graph, node)
    return Explanation(
        model_version=live.version,
        graph_version=live.graph_version,
        node=key,
        explanation=live.state.model.explain(live.state.graph, key),
    )


@ROUTER.get("/suggest")
def suggest(
    live: ReadVersion,
    count: Annotated[int, Query(description="How many.", ge=1, le=100)] = 10,
) -> Suggestions:
    """Which nodes to label next."""
    found = suggestions(live.state, count)
    return Suggestions(
        model_version=live.version,
        graph_version=live.graph_version,
        suggestions=[Suggested(**vars(one)) for one in found],
    )
