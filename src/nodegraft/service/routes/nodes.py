"""Routes about nodes: what can be read about them, and those that come."""

from functools import partial
from typing import Annotated, Any

import pyarrow as pa
from fastapi import APIRouter, Query, Response
from pydantic import Field, StrictBool

from nodegraft.analysis.version import Version
from nodegraft.base.errors import DataError
from nodegraft.service.auth.limits import MOST_KEYS
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.http_error import HttpError
from nodegraft.service.inputs import Served, key_in, needs
from nodegraft.service.live.writing import Writes
from nodegraft.service.previews import GrowthPreview
from nodegraft.service.routes.found import ReadVersion
from nodegraft.service.schemas import Answer, Changed, Form, NodeKey, Text
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.store.table_changes import TablePreview

READING = APIRouter(prefix="/v1", tags=["nodes"], dependencies=[needs(Scope.READ)])
GROWING = APIRouter(prefix="/v1", tags=["nodes"], dependencies=[needs(Scope.TEACH)])

MOST_READ = 100
"""Nodes that can be read about at once."""

Key = Annotated[str, Query(min_length=1, max_length=1_000)]
Cell = Text | int | float | bool | None | list[float]
Rows = Annotated[list[dict[Text, Cell]], Field(max_length=MOST_KEYS)]


class ReadNode(Form):
    """What can be read about a node."""

    node: NodeKey = Field(examples=["p7"])
    """Its key."""

    text: str | None = Field(examples=["felt hat with a wide brim"])
    """How its text begins; null where none was kept."""

    label: str | None = Field(examples=["hats"])
    """The class that it teaches or checks; null where it has no label."""


class ReadNodes(Answer):
    """Nodes of a version."""

    nodes: list[ReadNode]
    """As they were named, or in the order of the table."""


class Growth(Form):
    """New rows of the tables of nodes and of edges, with the columns that the store was made of."""

    nodes: Rows = Field(default=[], examples=[[{"key": "p99", "description": "folding e-bike"}]])
    """New nodes."""

    edges: Rows = Field(default=[], examples=[[{"source": "p99", "target": "p17"}]])
    """New edges, of old nodes or new ones."""

    note: Text = Field(default="", max_length=2_000, examples=["the shop of today"])
    """Why: it is written down."""

    dry_run: StrictBool = False
    """Whether only to report what would change (status 200); nothing is written then."""


@READING.get("/nodes")
def nodes(
    service: Served,
    live: ReadVersion,
    words: Annotated[
        str, Query(description="Of their keys and texts, also parts of words.", max_length=1_000)
    ] = "",
    key: Annotated[
        list[Key], Query(description="Their keys, instead of words.", max_length=MOST_READ)
    ] = [],  # noqa: B006
    limit: Annotated[int, Query(description="How many.", ge=1, le=MOST_READ)] = 20,
) -> ReadNodes:
    """Nodes of a version, found by words or named by their keys."""
    store, state = service.store, live.state
    if bool(words.strip()) == bool(key):
        told = "Give either words or keys."
        raise HttpError(422, "invalid_request", told, "Send ?words=felt+hat or ?key=p7&key=p9.")
    found = [key_in(state.graph, one) for one in key] or store.search(words, limit, live.version)
    owners = state.labels.owners()
    return ReadNodes(
        model_version=live.version,
        graph_version=live.graph_version,
        nodes=[
            ReadNode(node=node, text=text, label=owners.get(node))
            for node, text in zip(found, store.texts(found, live.version), strict=True)
        ],
    )


@GROWING.post(
    "/nodes",
    status_code=201,
    responses={200: {"model": GrowthPreview, "description": "Dry run: nothing was changed"}},
)
async def grow(growth: Growth, writing: Writes, response: Response) -> Changed | GrowthPreview:
    """Add new nodes and edges: this makes a version with a larger graph, unless it is a dry run."""
    nodes, edges = _table(growth.nodes, "nodes"), _table(growth.edges, "edges")
    if growth.dry_run:
        response.status_code = 200
        work = partial(_previewed, nodes, edges)
        return GrowthPreview.of(*await writing.service.teaching.apart(work))
    return await writing.made(partial(_grown, nodes, edges), note=growth.note)


def _previewed(nodes: Any, edges: Any, store: Store) -> tuple[Version, TablePreview]:
    return store.version(), store.preview_grow(nodes, edges)


def _grown(nodes: Any, edges: Any, store: Store, intent: Intent) -> Version:
    return store.grow(nodes, edges, intent=intent)


def _table(rows: list[dict[str, Any]], what: str) -> Any:
    """A table in memory, never a text: that would be taken for the path of a file."""
    if not rows:
        return None
    names = dict.fromkeys(name for row in rows for name in row)
    try:
        return pa.table({name: [row.get(name) for row in rows] for name in names})
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"The rows of {what} are no table: {error}.") from error
