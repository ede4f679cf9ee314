"""The files of the page, which hold no data: whoever asks gets them."""

from pathlib import Path

from starlette.responses import Response

FOLDER = Path(__file__).parent / "page"

TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
"""Of the files of the page, by how their names end."""

FILES = {
    "/" if path.name == "index.html" else f"/page/{path.name}": path
    for path in sorted(FOLDER.iterdir())
    if path.suffix in TYPES
}
"""Where each file is found: no other path leads to any file."""

HEADERS = {
    # Whatever a node is called, no script runs but the page's own, and nothing is asked elsewhere.
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def file_response(address: str) -> Response:
    """A file of the page.

    Args:
        address: One of :data:`FILES`.
    """
    path = FILES[address]
    return Response(path.read_bytes(), media_type=TYPES[path.suffix], headers=HEADERS)
