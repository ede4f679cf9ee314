"""Predictions as Arrow tables; pyarrow is imported when the first one is read."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from nodegraft.client.calls import ARROW, Call, Key, listed

MAX_KEYS = 10_000
"""Largest number of keys in a request."""


def key_parts(keys: Iterable[Key]) -> Iterator[list[Key]]:
    """Yield keys in parts for one request each; at least one part."""
    every = listed(keys)
    return (every[start : start + MAX_KEYS] for start in range(0, max(1, len(every)), MAX_KEYS))


def table_of(content: bytes) -> Any:
    """Return the table of an Arrow stream."""
    import pyarrow as pa

    with pa.ipc.open_stream(content) as stream:
        return stream.read_all()


def version_of(table: Any) -> int:
    """Return the version that a table was predicted by."""
    return int(json.loads(table.schema.metadata[b"nodegraft"])["model_version"])


def joined(tables: list[Any]) -> Any:
    """Return the rows of several tables."""
    import pyarrow as pa

    return pa.concat_tables(tables)


def is_arrow(call: Call) -> bool:
    """Return whether a call wants an Arrow stream instead of JSON."""
    return call.headers.get("Accept") == ARROW
