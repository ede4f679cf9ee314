"""Predictions as Arrow tables; pyarrow is imported only when it is needed."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from nodegraft.base.errors import ParameterError
from nodegraft.client.calls import ARROW, Call, Key, listed

MAX_KEYS = 10_000
"""Maximum number of keys in a request."""


def key_parts(keys: Iterable[Key]) -> Iterator[list[Key]]:
    """Yield batches of keys, each for one request; refuse an empty list."""
    every = listed(keys)
    if not every:
        raise ParameterError("There are no node keys: give at least one.")
    return (every[start : start + MAX_KEYS] for start in range(0, len(every), MAX_KEYS))


def table_of(content: bytes) -> Any:
    """Read the table from an Arrow stream."""
    import pyarrow as pa

    with pa.ipc.open_stream(content) as stream:
        return stream.read_all()


def version_of(table: Any) -> int:
    """Return the number of the version that made the predictions in a table."""
    return int(json.loads(table.schema.metadata[b"nodegraft"])["model_version"])


def joined_tables(tables: list[Any]) -> Any:
    """Concatenate the rows of several tables."""
    import pyarrow as pa

    # The key column is an integer column in a batch with only integer keys, but a text column in
    # any other batch, so convert it to text.
    if len({table.schema.field("node").type for table in tables}) > 1:
        tables = [table.set_column(0, "node", table["node"].cast(pa.string())) for table in tables]
    return pa.concat_tables(tables)


def is_arrow(call: Call) -> bool:
    """Return whether a call requests an Arrow stream instead of JSON."""

    return call.headers.get("Accept") == ARROW
