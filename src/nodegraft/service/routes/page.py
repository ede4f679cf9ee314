"""Routes of the files of two pages: `/` for labelling, and `/docs` about the HTTP API.

The files contain no data, so they need no token.
"""

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

PAGES = {"index.html": "/", "docs.html": "/docs"}
"""File -> URL path of a page; other files are below `/page/`."""

_FOLDER = Path(__file__).parents[1] / "page"

PAGE_FILES = {
    PAGES.get(path.name, f"/page/{path.name}"): path
    for folder in (_FOLDER, _FOLDER / "swagger")
    for path in sorted(folder.iterdir())
    if path.suffix in TYPES
}
"""URL path -> file; no other path leads to a file."""

HEADERS = {
    # Names of nodes may contain markup, so only scripts of the page itself may run, without other
    # hosts. The style sheet of Swagger UI contains its images.
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def _file(request: Request) -> Response:
    path = PAGE_FILES[request.url.path]
    return Response(path.read_bytes(), media_type=TYPES[path.suffix], headers=HEADERS)


for _path in PAGE_FILES:
    ROUTER.get(_path)(_file)
