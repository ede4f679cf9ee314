"""Every error that a request can end in, as a caller is told of it."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from nodegraft.base.errors import (
    CandidateWaitsError,
    ClassNameError,
    DataError,
    GateError,
    NodegraftError,
    NotSupportedError,
    ParameterError,
    RequestConflictError,
    SimilarNameError,
    StoreChangedError,
    StoreError,
    StoreUnreachableError,
    TablesError,
    UnknownNodeError,
)
from nodegraft.service.http_error import HttpError

SHOWN = 5
"""So many mistakes of one request are told."""

_READ_AGAIN = "Compare what you sent with /openapi.json."

_KNOWN: dict[type[NodegraftError], tuple[int, str, str]] = {
    # The first that fits: subclasses come before their parents.
    GateError: (
        409,
        "gate_refused",
        "Look at POST /v1/classes:preview, choose other nodes, or give a reason as `override`.",
    ),
    StoreChangedError: (409, "store_changed", "Send it again."),
    StoreUnreachableError: (503, "store_unreachable", "Send it again in some seconds."),
    RequestConflictError: (422, "key_used_before", "Use a new Idempotency-Key."),
    ClassNameError: (409, "class_name", "Look at GET /v1/classes."),
    StoreError: (409, "store_refused", "Look at GET /v1/sessions."),
    UnknownNodeError: (
        404,
        "unknown_node",
        "Leave these keys out, add them (POST /v1/nodes), or read another version: "
        "version=candidate.",
    ),
    NotSupportedError: (422, "not_supported", "Use a store whose method can, such as graft."),
    DataError: (422, "data", _READ_AGAIN),
    ParameterError: (422, "parameter", _READ_AGAIN),
}


def told(error: NodegraftError) -> HttpError:
    """An error of nodegraft as a caller is told of it.

    Args:
        error: The error.
    """
    fits = (found for kind, found in _KNOWN.items() if isinstance(error, kind))
    status, code, advice = next(fits, (409, "refused", _READ_AGAIN))
    more: dict[str, Any] = {}
    if isinstance(error, CandidateWaitsError):
        number = error.candidate
        advice = (
            f"Promote it (POST /v1/versions/{number}:promote), discard it (POST /v1/versions/"
            f"{number}:discard), or omit promote=true to add the change to it."
        )
        return HttpError(409, "candidate_waits", error.what_happened, advice)
    if isinstance(error, TablesError):
        # Its advice names arguments and options that no request has.
        advice = "Correct these rows in `nodes` and `edges`, or leave them out, and send it again."
        return HttpError(status, code, error.what_happened, advice)
    if isinstance(error, SimilarNameError):
        advice = f'Use {error.other!r}; or, if these are two classes, send "force_name": true.'
        return HttpError(409, "similar_name", error.what_happened, advice)
    if isinstance(error, GateError):
        more["objections"] = list(error.objections)
    headers = {"Retry-After": "5"} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
    return HttpError(status, code, str(error), advice, headers, **more)


def _invalid(error: RequestValidationError) -> HttpError:
    found = dict.fromkeys(f"{_place(one['loc'])}: {one['msg'].lower()}" for one in error.errors())
    told = f"The request is invalid: {'; '.join(list(found)[:SHOWN])}."
    return HttpError(422, "invalid_request", told, _READ_AGAIN)


def _place(location: tuple[int | str, ...]) -> str:
    # Which of several forms was tried is of no interest.
    forms = ("str", "int", "float", "bool")
    parts = map(str, location)
    return ".".join(part for part in parts if part not in forms and "[" not in part)


def _by_http(error: HTTPException) -> HttpError:
    status = HTTPStatus(error.status_code)
    code = status.phrase.lower().replace(" ", "_")
    return HttpError(status, code, f"{error.detail}.", _READ_AGAIN, error.headers)


def _answering(
    explain: Callable[[Any], HttpError],
) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def answer(request: Request, error: Exception) -> Response:
        return explain(error).response(request.url.path)

    return answer


def explain_errors(app: FastAPI) -> None:
    """Make every error of an application one that says what to do.

    Args:
        app: The application.
    """
    app.add_exception_handler(NodegraftError, _answering(told))
    app.add_exception_handler(HttpError, _answering(lambda problem: problem))
    app.add_exception_handler(RequestValidationError, _answering(_invalid))
    app.add_exception_handler(HTTPException, _answering(_by_http))
