"""Routes that read nodes, and add nodes and edges."""

from functools import partial
from typing import Annotated, Any

import pyarrow as pa
from fastapi import Query, Response
from pydantic import Field

from nodegraft.analysis.results.comparisons import RowsComparison
from nodegraft.analysis.results.versions import Changed
from nodegraft.analysis.version import Version
from nodegraft.base.errors import DataError
from nodegraft.graph.keys import Key
from nodegraft.service import schemas
from nodegraft.service.auth.limits import MAX_KEYS
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import Changes, Node, ReadVersion, Served, key_in, router
from nodegraft.service.errors import HttpError
from nodegraft.service.live.live import Live
from nodegraft.service.service import Service
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store

READ = router("nodes", Scope.READ)
TEACH = router("nodes", Scope.TEACH)

MAX_READ = 100
"""Maximum number of nodes in a response of `GET /v1/nodes`."""

KeyText = Annotated[str, Query(min_length=1, max_length=1_000)]
Cell = schemas.Text | int | float | bool | None | list[float]
Rows = Annotated[list[dict[schemas.Text, Cell]], Field(max_length=MAX_KEYS)]


class ReadNode(schemas.Model):
    """Text and label of a node."""

    node: schemas.NodeKey = Field(examples=["p7"])
    """Node key."""

    text: str | None = Field(examples=["felt hat with a wide brim"])
    """Start of the node's text; null if it has no text."""

    label: str | None = Field(examples=["hats"])
    """Label of the node; null if it has no label."""


class ReadNodes(schemas.VersionResponse):
    """Nodes of a version."""

    nodes: list[ReadNode]
    """Nodes in the order of the requested keys, or of the table."""


class EdgeType(schemas.Model):
    """Neighbours of a node that are joined to it by edges of one type."""

    name: str = Field(examples=["bought together"])
    """Name of the edge type."""

    neighbours: int = Field(examples=[31])
    """Number of neighbours."""

    nodes: list[ReadNode]
    """Some of the neighbours."""


class Neighbours(schemas.VersionResponse):
    """Neighbours of a node."""

    node: schemas.NodeKey = Field(examples=["p7"])
    """Node key."""

    edge_types: list[EdgeType]
    """Neighbours by edge type, one entry for each edge type of the graph."""


class NewRows(schemas.RequestModel):
    """New rows of the tables of nodes and edges, with the columns of the store's own tables."""

    nodes: Rows | dict[schemas.Text, Rows] = Field(
        default=[], examples=[[{"key": "p99", "description": "folding e-bike"}]]
    )
    """New nodes; or new nodes by node type, if the store has several."""

    edges: Rows | dict[schemas.Text, Rows] = Field(
        default=[], examples=[[{"source": "p99", "target": "p17"}]]
    )
    """New edges between old or new nodes; or by edge type, such as `user:bought:product`."""

    note: schemas.Text = Field(default="", max_length=2_000, examples=["products of today"])
    """Reason for the change, stored in the history."""

    dry_run: bool = False
    """Only report the effect of the change, without making a version (status 200)."""


@READ.get("/nodes")
def nodes(
    service: Served,
    live: ReadVersion,
    words: Annotated[
        str, Query(description="Words or parts of words in key or text.", max_length=1_000)
    ] = "",
    key: Annotated[
        list[KeyText], Query(description="Node keys, instead of words.", max_length=MAX_READ)
    ] = [],  # noqa: B006
    label: Annotated[
        str, Query(description="Class whose labelled nodes are read.", max_length=1_000)
    ] = "",
    limit: Annotated[int, Query(description="Number of nodes.", ge=1, le=MAX_READ)] = 20,
) -> ReadNodes:
    """Find nodes by words or by label, or read the nodes with given keys.

    Exact matches of keys come first.
    """
    store, state = service.store, live.state
    if sum(map(bool, (words.strip(), key, label))) != 1:
        message = "Give words, keys or a label."
        advice = "Send ?words=felt+hat, ?key=p7&key=p9 or ?label=hats."
        raise HttpError(422, "invalid_request", message, advice)
    if label:
        keys = list(state.labels[label].all[:limit])
    else:
        keys = [key_in(state.graph, text) for text in key]
        keys = keys or store.search(words, limit, live.version)
    return ReadNodes(**live.fields, nodes=_read(service, live, keys))


@READ.get("/neighbours")
def neighbours(
    service: Served,
    live: ReadVersion,
    node: Node,
    limit: Annotated[int, Query(description="Neighbours by each type.", ge=1, le=MAX_READ)] = 10,
) -> Neighbours:
    """List the neighbours of a node by edge type."""
    graph = live.state.graph
    key = key_in(graph, node)
    row, by_type = graph.rows_of([key]), list[EdgeType]()
    for name in graph.relations:
        (count,), rows = graph.neighbours(row, name)
        nodes = _read(service, live, graph.keys_of(rows[:limit]))
        by_type.append(EdgeType(name=name, neighbours=count, nodes=nodes))
    return Neighbours(**live.fields, node=key, edge_types=by_type)


def _read(service: Service, live: Live, keys: list[Key]) -> list[ReadNode]:
    labels, texts = live.state.label_of, service.store.texts(keys, live.version)
    return [
        ReadNode(node=node, text=text, label=labels.get(node))
        for node, text in zip(keys, texts, strict=True)
    ]


@TEACH.post(
    "/nodes",
    status_code=201,
    responses={200: {"model": RowsComparison, "description": "Dry run: nothing was changed"}},
)
async def grow(new: NewRows, changes: Changes, response: Response) -> Changed | RowsComparison:
    """Add nodes and edges. This makes a new version with a larger graph, unless it is a dry run."""
    tables = table_of(new.nodes, "nodes"), table_of(new.edges, "edges")
    if not new.dry_run:
        return await changes.response(partial(_grow, *tables), new.note)
    response.status_code = 200
    return await changes.service.writer.run(partial(_preview, *tables))


def _preview(nodes: Any, edges: Any, store: Store) -> RowsComparison:
    return store.preview_grow(nodes, edges).result(store.version())


def _grow(nodes: Any, edges: Any, store: Store, intent: Intent) -> Version:
    return store.grow(nodes, edges, intent=intent)


def table_of(rows: list[dict[str, Any]] | dict[str, list[dict[str, Any]]], what: str) -> Any:
    """Return rows as a table in memory, because the store interprets text as the path of a file."""
    if not rows:
        return None
    if isinstance(rows, dict):
        return {name: table_of(part, f"{what} {name}") for name, part in rows.items() if part}
    names = dict.fromkeys(name for row in rows for name in row)
    try:
        return pa.table({name: [row.get(name) for row in rows] for name in names})
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"The rows of {what} are not a table: {error}.") from error
