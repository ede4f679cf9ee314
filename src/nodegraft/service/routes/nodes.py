"""Routes that read nodes, and add nodes and edges."""

from functools import partial
from typing import Annotated, Any

import pyarrow as pa
from fastapi import Query, Response
from pydantic import Field

from nodegraft.analysis.version import Version, version_fields
from nodegraft.base.errors import DataError
from nodegraft.service.auth.limits import MAX_KEYS
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import Changes, ReadVersion, Served, key_in, router
from nodegraft.service.errors import HttpError
from nodegraft.service.schemas import (
    Changed,
    Comparison,
    Model,
    NodeKey,
    RequestModel,
    Text,
    VersionResponse,
)
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.store.table_changes import TablePreview

READ = router("nodes", Scope.READ)
TEACH = router("nodes", Scope.TEACH)

MAX_READ = 100
"""Nodes in one response of `GET /v1/nodes`."""

Key = Annotated[str, Query(min_length=1, max_length=1_000)]
Cell = Text | int | float | bool | None | list[float]
Rows = Annotated[list[dict[Text, Cell]], Field(max_length=MAX_KEYS)]


class ReadNode(Model):
    """Text and label of a node."""

    node: NodeKey = Field(examples=["p7"])
    """Node key."""

    text: str | None = Field(examples=["felt hat with a wide brim"])
    """Start of its text; null without one."""

    label: str | None = Field(examples=["hats"])
    """Label of the node; null without one."""


class ReadNodes(VersionResponse):
    """Nodes of a version."""

    nodes: list[ReadNode]
    """Nodes in the order of the keys, or of the table."""


class NewRows(RequestModel):
    """New rows of the tables of nodes and edges, with the columns of the store's own tables."""

    nodes: Rows = Field(default=[], examples=[[{"key": "p99", "description": "folding e-bike"}]])
    """New nodes."""

    edges: Rows = Field(default=[], examples=[[{"source": "p99", "target": "p17"}]])
    """New edges between old or new nodes."""

    note: Text = Field(default="", max_length=2_000, examples=["products of today"])
    """Reason for the change, stored in the history."""

    dry_run: bool = False
    """Only report what would change (status 200)."""


class RowsComparison(Comparison):
    """Effect of new nodes and edges; nothing was changed."""

    nodes_added: int = Field(examples=[12])
    """Nodes that would be added."""

    nodes_removed: int = Field(examples=[0])
    """Nodes that would be removed."""

    edges_added: int = Field(examples=[30])
    """Edges that would be added."""

    edges_removed: int = Field(examples=[0])
    """Edges that would be removed."""

    labels_removed: int = Field(examples=[0])
    """Labels that would be removed with their nodes."""

    labels_lost: dict[str, int] = Field(examples=[{}])
    """Class -> number of its labels that would be removed."""


@READ.get("/nodes")
def nodes(
    service: Served,
    live: ReadVersion,
    words: Annotated[
        str, Query(description="Words or parts of words in key or text.", max_length=1_000)
    ] = "",
    key: Annotated[
        list[Key], Query(description="Node keys, instead of words.", max_length=MAX_READ)
    ] = [],  # noqa: B006
    limit: Annotated[int, Query(description="Number of nodes.", ge=1, le=MAX_READ)] = 20,
) -> ReadNodes:
    """Find nodes by words, or read those with given keys."""
    store, state = service.store, live.state
    if bool(words.strip()) == bool(key):
        message = "Give either words or keys."
        raise HttpError(422, "invalid_request", message, "Send ?words=felt+hat or ?key=p7&key=p9.")
    found = [key_in(state.graph, text) for text in key] or store.search(words, limit, live.version)
    labels = state.labels.owners()
    return ReadNodes(
        **live.fields,
        nodes=[
            ReadNode(node=node, text=text, label=labels.get(node))
            for node, text in zip(found, store.texts(found, live.version), strict=True)
        ],
    )


@TEACH.post(
    "/nodes",
    status_code=201,
    responses={200: {"model": RowsComparison, "description": "Dry run: nothing was changed"}},
)
async def grow(new: NewRows, changes: Changes, response: Response) -> Changed | RowsComparison:
    """Add nodes and edges: this makes a version with a larger graph, unless it is a dry run."""
    tables = _table(new.nodes, "nodes"), _table(new.edges, "edges")
    if not new.dry_run:
        return await changes.response(partial(_grow, *tables), new.note)
    response.status_code = 200
    version, found = await changes.service.writer.run(partial(_preview, *tables))
    return RowsComparison(**version_fields(version), **found.fields())


def _preview(nodes: Any, edges: Any, store: Store) -> tuple[Version, TablePreview]:
    return store.version(), store.preview_grow(nodes, edges)


def _grow(nodes: Any, edges: Any, store: Store, intent: Intent) -> Version:
    return store.grow(nodes, edges, intent=intent)


def _table(rows: list[dict[str, Any]], what: str) -> Any:
    """Return rows as a table in memory; the store would take text as the path of a file."""
    if not rows:
        return None
    names = dict.fromkeys(name for row in rows for name in row)
    try:
        return pa.table({name: [row.get(name) for row in rows] for name in names})
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"The rows of {what} are not a table: {error}.") from error
