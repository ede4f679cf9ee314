"""Routes that ask: classes of nodes, why, and what to label next."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from nodegraft.analysis.predictions import Missing, Reason, found_rows, predict_rows
from nodegraft.analysis.suggestions.suggestion import suggestions
from nodegraft.base.errors import DataError
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.model.confidence import World
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.inputs import Node, key_in, needs
from nodegraft.service.routes.found import ReadVersion
from nodegraft.service.schemas import Answer, Form, Keys, NodeKey

ROUTER = APIRouter(prefix="/v1", tags=["asking"], dependencies=[needs(Scope.READ)])


class Question(Form):
    """Nodes whose class is asked for."""

    keys: Keys = Field(examples=[["p7", "p9"]])
    """Their keys."""

    top: int = Field(default=1, ge=1, le=100, examples=[3])
    """How many classes of each, the likeliest first."""

    min_confidence: float | None = Field(default=None, ge=0.0, le=1.0, examples=[0.9])
    """Predictions with less confidence are withheld: `reason` is then `below_confidence`."""

    coverage: float | None = Field(default=None, gt=0.0, lt=1.0, examples=[None])
    """Also give a `set` of classes for each node, which contains its class with this probability.
    The first request for a version takes longer: it calibrates on labels."""

    missing: Missing = Field(default="null", examples=["null"])
    """What happens to keys that the graph does not have: `null` answers them without a class, with
    `reason` `unknown_key`; `skip` leaves them out; `error` refuses the whole request."""

    ignore_labels: bool = Field(default=False, examples=[False])
    """Whether `class` is the prediction also for nodes with a label."""


class Likely(Form):
    """A class that a node may be of."""

    name: str = Field(serialization_alias="class", examples=["hats"])
    """Its name."""

    probability: float = Field(examples=[0.97])
    """P(class | the node belongs to a known class)."""


class Predicted(Form):
    """The prediction for one node, and its label."""

    node: NodeKey = Field(examples=["p7"])
    """Its key."""

    name: str | None = Field(serialization_alias="class", examples=["hats"])
    """Its label where it has one, else the prediction."""

    label: str | None = Field(examples=[None])
    """The class that users gave it; null where it has no label."""

    prediction: str | None = Field(examples=["hats"])
    """The predicted class; null where confidence is too low or the key is unknown."""

    confidence: float | None = Field(examples=[0.95])
    """Probability times `known` in an open world, probability in a closed one; null for an unknown
    key."""

    probability: float | None = Field(examples=[0.97])
    """P(class | the node belongs to a known class), of the likeliest class."""

    known: float | None = Field(examples=[0.98])
    """P(the node belongs to any known class); null without an estimate, where confidence is the
    probability alone."""

    reason: Reason = Field(examples=["prediction"])
    """Where `class` comes from (`own_label`, `prediction`), or why it is null
    (`below_confidence`, `unknown_key`)."""

    top: list[Likely]
    """The likeliest classes, best first; empty for an unknown key."""

    members: list[str] | None = Field(default=None, serialization_alias="set", examples=[None])
    """Classes that contain the node's class with probability `coverage`, the likeliest first; null
    without `coverage`, empty for an unknown key."""


class Predictions(Answer):
    """Predictions in the order of the keys."""

    world: World = Field(examples=["open"])
    """Whether nodes may belong to classes that are not known: it decides what confidence means."""

    answers: list[Predicted]
    """One for each."""

    sets_note: str | None = Field(default=None, examples=[None])
    """Which classes the coverage holds for one by one, and for which together; null without
    `coverage`."""


class Explanation(Answer):
    """Why a node is answered as it is."""

    node: NodeKey = Field(examples=["p7"])
    """Its key."""

    explanation: dict[str, Any]
    """As the method says it (for graft the signals, labels and relations that spoke for it), with
    `confidence`, `probability`, `known` and `world`; `note` says where the estimated share of nodes
    of known classes moves confidence by more than a factor of two or is missing."""

    label: str | None = Field(examples=["hats"])
    """The class that users gave the node; null where it has no label."""


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
    """The class of each node, and where it comes from."""
    if question.missing != "error":
        _require_key_type(live.state.graph, question.keys)
    rows, keys = found_rows(live.state.graph, question.keys, question.missing)
    found = predict_rows(
        live.state,
        rows,
        live.version,
        question.top,
        question.min_confidence,
        keys=keys,
        ignore_labels=question.ignore_labels,
        coverage=question.coverage,
    )
    return Predictions(
        model_version=live.version,
        graph_version=live.graph_version,
        world=found.world,
        answers=[_predicted(**row) for row in found.to_rows()],
        sets_note=found.sets_note,
    )


def _require_key_type(graph: Graph, keys: list[Key]) -> None:
    """Refuse keys that are all of the wrong type: a caller's mistake, and no unknown nodes."""
    wanted = str if graph.has_text_keys else int
    if keys and not any(isinstance(key, wanted) for key in keys):
        own, other = ("text", "integer") if graph.has_text_keys else ("integer", "text")
        raise DataError(
            f"The keys of this graph are of type {own}, and {keys[0]!r} is of type {other}: the "
            f"two never match. Send `keys` of type {own}."
        )


def _predicted(top: list[dict[str, Any]], **row: Any) -> Predicted:
    likely = [Likely(name=one["class"], probability=one["probability"]) for one in top]
    return Predicted(name=row.pop("class"), top=likely, members=row.pop("set", None), **row)


@ROUTER.get("/explain")
def explain(node: Node, live: ReadVersion) -> Explanation:
    """Why a node is answered as it is."""
    key = key_in(live.state.graph, node)
    return Explanation(
        model_version=live.version,
        graph_version=live.graph_version,
        node=key,
        explanation=live.state.model.explain(live.state.graph, key),
        label=live.state.label_of.get(key),
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
