"""The route by which a graph grows."""

from operator import methodcaller
from typing import Annotated, Any

import pyarrow as pa
from fastapi import APIRouter
from pydantic import Field

from nodegraft.base.errors import DataError
from nodegraft.service.inputs import Caller, Served, Wanted, needs
from nodegraft.service.limits import MOST_KEYS
from nodegraft.service.schemas import Changed, Form, Text
from nodegraft.service.tokens import Scope

ROUTER = APIRouter(prefix="/v1", tags=["nodes"], dependencies=[needs(Scope.TEACH)])

Cell = Text | int | float | bool | None | list[float]
Rows = Annotated[list[dict[Text, Cell]], Field(max_length=MOST_KEYS)]


class Growth(Form):
    """New rows of the tables of nodes and of edges, with the columns that the store was made of."""

    nodes: Rows = Field(default=[], examples=[[{"key": "p99", "description": "folding e-bike"}]])
    """New nodes."""

    edges: Rows = Field(default=[], examples=[[{"source": "p99", "target": "p17"}]])
    """New edges, of old nodes or new ones."""

    note: Text = Field(default="", max_length=2_000, examples=["the shop of today"])
    """Why: it is written down."""


@ROUTER.post("/nodes", status_code=201)
async def grow(growth: Growth, service: Served, caller: Caller, wanted: Wanted) -> Changed:
    """Take in new nodes and edges: this makes a version with a larger graph."""
    make = methodcaller(
        "grow",
        _table(growth.nodes, "nodes"),
        _table(growth.edges, "edges"),
        by=caller.name,
        note=growth.note,
        promote=wanted.promote,
        request=wanted,
    )
    return Changed.of(await service.teaching.done(wanted, make))


def _table(rows: list[dict[str, Any]], what: str) -> Any:
    """A table in memory, never a text: that would be taken for the path of a file."""
    if not rows:
        return None
    names = dict.fromkeys(name for row in rows for name in row)
    try:
        return pa.table({name: [row.get(name) for row in rows] for name in names})
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"The rows of {what} are no table: {error}.") from error
