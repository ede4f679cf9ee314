"""The routes of the page for people; what it shows it asks the other routes for."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from nodegraft.service.bundle import FILES, file_response

OPEN = APIRouter(include_in_schema=False)


def _file(request: Request) -> Response:
    return file_response(request.url.path)


for _path in FILES:
    OPEN.get(_path)(_file)
