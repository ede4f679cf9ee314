"""A small store behind the application, in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from nodegraft.service.application import application
from nodegraft.service.settings import Settings

KNOWN = [1, 2, 3]
"""Keys of nodes that the small store has."""


@contextmanager
def asked(place: Path, **options: Any) -> Iterator[TestClient]:
    """Who asks a service of a store."""
    settings = Settings(place, **{"rate": 0.0, **options})
    with TestClient(application(settings), base_url="http://localhost") as client:
        yield client


def lesson(new: dict[str, list[Any]], place: int = 0) -> dict[str, Any]:
    """One of the new classes, as a request."""
    name = sorted(new)[place]
    return {"classes": {name: new[name]}}
