"""Routes of the page's files. They contain no data, so they need no token."""

from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import Response

ROUTER = APIRouter(include_in_schema=False)

TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
"""Suffix of a file -> its media type."""

PAGE_FILES = {
    "/" if path.name == "index.html" else f"/page/{path.name}": path
    for path in sorted((Path(__file__).parents[1] / "page").iterdir())
    if path.suffix in TYPES
}
"""URL path -> file; no other path leads to a file."""

HEADERS = {
    # Names of nodes may contain markup: only the page's own scripts run, with no other host.
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def _file(request: Request) -> Response:
    path = PAGE_FILES[request.url.path]
    return Response(path.read_bytes(), media_type=TYPES[path.suffix], headers=HEADERS)


for _path in PAGE_FILES:
    ROUTER.get(_path)(_file)
