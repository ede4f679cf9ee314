"""Routes that predict classes, explain predictions, and suggest nodes to label."""

import json
import re
from typing import Annotated, Any

import pyarrow as pa
from fastapi import Query, Request
from pydantic import Field
from pydantic_core import to_json
from starlette.responses import Response

from nodegraft.analysis.predictions import Missing, predict_keys, predict_new_rows
from nodegraft.analysis.results.nodes import (
    Explanation,
    Predictions,
    SuggestedClasses,
    Suggestions,
)
from nodegraft.analysis.suggestions import new_classes, suggestions
from nodegraft.base.errors import DataError
from nodegraft.base.tabular import Tabular
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.service.auth.limits import MAX_KEYS
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import Node, ReadVersion, Served, key_in, router
from nodegraft.service.schemas import Keys, RequestModel

ROUTER = router("predictions", Scope.READ)

ARROW = "application/vnd.apache.arrow.stream"
"""Media type of Arrow streams."""


class PredictRequest(RequestModel):
    """Request to predict the classes of nodes."""

    keys: Keys | None = Field(default=None, examples=[["p7", "p9"]])
    """Node keys; omit them if you send `rows`."""

    rows: list[dict[str, Any]] | None = Field(
        default=None, min_length=1, max_length=MAX_KEYS, examples=[None]
    )
    """Rows that are not in the graph, instead of `keys`: each has the columns that the store was
    created from (null where a value is missing) and `edges`, a list such as `[{"type": "needs",
    "target": "react"}]`. They are neither stored nor logged, and each row is scored independently.
    The response names a row by its key column or, without key column, `row 1`, `row 2` …"""

    top: int = Field(default=1, ge=1, le=100, examples=[3])
    """Number of classes for each node, the most probable first."""

    min_confidence: float | None = Field(default=None, ge=0.0, le=1.0, examples=[0.9])
    """If confidence is lower, predict the lowest ancestor in the class tree that reaches it, with
    `reason` `ancestor`; abstain if there is none, with `reason` `below_confidence`."""

    coverage: float | None = Field(default=None, gt=0.0, lt=1.0, examples=[None])
    """Also return a `set` of classes for each node, which contains its true class with this
    probability. The first request for a version takes longer, because it calibrates on labels."""

    missing: Missing = Field(default="null", examples=["null"])
    """What to do with keys that are not in the graph: `null` gives a row without a class, with
    `reason` `unknown_key`; `skip` drops them; `error` refuses the whole request."""

    ignore_labels: bool = Field(default=False, examples=[False])
    """Whether `class` is the prediction even for labelled nodes, instead of their label."""


@ROUTER.post(
    "/predict",
    response_model=Predictions,
    responses={200: {"content": {ARROW: {"schema": {"type": "string", "format": "binary"}}}}},
)
def predict(request: PredictRequest, live: ReadVersion, service: Served, http: Request) -> Response:
    """Predict the classes of nodes, or of rows that are not in the graph.

    With `Accept: application/vnd.apache.arrow.stream` the response is an Arrow stream with a column
    for each field of a prediction (`class_1`, `probability_1` … instead of `top`); the other fields
    are JSON in the metadata `nodegraft` of its schema.
    """
    if (request.keys is None) == (request.rows is None):
        raise DataError("Send either `keys` or `rows`.")
    options: tuple[Any, ...] = live.version, request.top, request.min_confidence
    if request.rows is not None:
        named: dict[str, Any] = {"key": service.store.key_column, "coverage": request.coverage}
        predictions = predict_new_rows(live.state, request.rows, *options, **named)
    else:
        keys = request.keys or []
        if request.missing != "error":
            require_key_type(live.state.graph, keys)
        predictions = predict_keys(
            live.state,
            keys,
            *options,
            missing=request.missing,
            ignore_labels=request.ignore_labels,
            coverage=request.coverage,
        )
    notes = {"sets_note": predictions.sets_note, "rows_note": predictions.rows_note}
    world, vary = {"world": predictions.world}, {"Vary": "Accept"}
    if prefers_arrow(http.headers.get("Accept", "")):
        stream = arrow_stream(predictions, live.fields | world | notes)
        return Response(stream, media_type=ARROW, headers=vary)
    # Use plain rows and pydantic's encoder, because objects for each node, or `json`, make large
    # batches slow.
    content = to_json(live.fields | world | {"predictions": predictions.to_rows()} | notes)
    return Response(content, media_type="application/json", headers=vary)


def prefers_arrow(accept: str) -> bool:
    """Return whether a header ``Accept`` names Arrow streams and does not prefer JSON.

    >>> [prefers_arrow(f"{text}{ARROW}") for text in ("", "*/*, ", "application/json;q=0.5, ")]
    [True, True, True]
    >>> [prefers_arrow(ARROW.upper() + text) for text in ("", ";q=0", ";q=0.1, Application/JSON")]
    [True, False, False]
    """
    quality = dict[str, float]()
    for part in accept.lower().split(","):
        weight = re.search(r";\s*q=(\d(?:\.\d*)?)", part)
        quality[part.partition(";")[0].strip()] = float(weight[1]) if weight else 1.0
    names = (name for name in ("application/json", "application/*", "*/*") if name in quality)
    return 0.0 < quality.get(ARROW, 0.0) >= quality.get(next(names, ""), 0.0)


def arrow_stream(predictions: Tabular, fields: dict[str, Any]) -> bytes:
    """Return predictions as an Arrow stream."""
    metadata = {"nodegraft": json.dumps(fields)}
    table, sink = predictions.to_arrow().replace_schema_metadata(metadata), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def require_key_type(graph: Graph, keys: list[Key]) -> None:
    """Refuse a request whose keys all have the wrong type: the caller made a mistake."""
    key_class = str if graph.has_text_keys else int
    if keys and not any(isinstance(key, key_class) for key in keys):
        own, other = ("text", "integer") if graph.has_text_keys else ("integer", "text")
        raise DataError(
            f"The keys of this graph are of type {own}, and {keys[0]!r} is of type {other}: the "
            f"two never match. Send `keys` of type {own}."
        )


@ROUTER.get("/explain")
def explain(node: Node, live: ReadVersion) -> Explanation:
    """Explain the prediction of a node."""
    key = key_in(live.state.graph, node)
    return Explanation(
        **live.fields,
        node=key,
        explanation=live.state.model.explain(live.state.graph, key),
        label=live.state.label_of.get(key),
    )


@ROUTER.get("/suggest")
def suggest(
    live: ReadVersion,
    count: Annotated[int, Query(description="Number of nodes.", ge=1, le=100)] = 10,
) -> Suggestions:
    """Suggest nodes to label next."""
    return Suggestions(**live.fields, suggestions=suggestions(live.state, count))


@ROUTER.get("/suggest/classes")
async def suggest_classes(
    service: Served,
    live: ReadVersion,
    count: Annotated[int, Query(description="Number of groups.", ge=1, le=20)] = 6,
) -> SuggestedClasses:
    """Suggest groups of nodes that may be a new class."""

    def compute() -> SuggestedClasses:
        return SuggestedClasses(**live.fields, groups=new_classes(live.state, count))

    return await service.responses.get("suggest/classes", (live.cache_key, count), compute)
