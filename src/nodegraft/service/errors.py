"""Error responses of the service: what happened, and what the caller can do."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from nodegraft.base import errors

MAX_PROBLEMS = 5
"""Maximum number of invalid fields that an error message lists."""

LOG = logging.getLogger("nodegraft.service")

_SEE_SCHEMA = "Compare your request with /openapi.json."

_RESPONSES: dict[type[errors.NodegraftError], tuple[int, str]] = {
    # The first matching class is used, so subclasses must be listed before their base classes.
    errors.GateError: (
        409,
        "See POST /v1/classes:preview, choose other nodes, or send a reason as `override`.",
    ),
    errors.StoreChangedError: (409, "Send it again."),
    errors.StoreUnreachableError: (503, "Send it again in a few seconds."),
    errors.RequestConflictError: (422, "Use a new Idempotency-Key."),
    errors.ClassNameError: (409, "See GET /v1/classes."),
    errors.NoCandidateError: (404, "Use live or newest instead of candidate."),
    errors.StoreError: (409, "See GET /v1/history."),
    errors.UnknownNodeError: (
        404,
        "Omit these keys, add them (POST /v1/nodes), or read another version: version=newest.",
    ),
    errors.NotSupportedError: (
        422,
        "Use a store whose method supports it, such as graft.",
    ),
    errors.SeveralLabelsError: (422, "GET /openapi.json lists what this store supports."),
    errors.MissingExtraError: (500, "Tell the operator of this service."),
    errors.DataError: (422, _SEE_SCHEMA),
    errors.ParameterError: (422, _SEE_SCHEMA),
}


class HttpError(Exception):
    """Error that is sent as a response.

    Args:
        status: HTTP status.
        code: Identifier for programs, such as ``unknown_node``.
        message: Sentence that says what happened.
        what_to_do: Sentence that says what the caller can do.
        headers: Additional response headers.
        more: Additional fields of the error.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        what_to_do: str,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.headers = status, code, headers
        self.content = {"code": code, "message": message, "what_to_do": what_to_do, **more}

    def __reduce__(self) -> tuple[Any, ...]:
        # This method makes the error picklable: the writer process sends it through a pipe.
        return partial(HttpError, self.status, headers=self.headers, **self.content), ()

    def response(self, path: str) -> Response:
        """Return the HTTP response for this error.

        Args:
            path: Path of the request; errors of Open Inference Protocol paths (/v2) have another
                format.
        """
        content: object = self.content
        if path.startswith("/v2"):
            content = f"{self.content['message']} {self.content['what_to_do']}"
        headers = dict(self.headers or {})
        return JSONResponse({"error": content}, status_code=self.status, headers=headers)


def internal_error(error: Exception) -> HttpError:
    """Log an unexpected error, and return a response without its details."""
    LOG.error("a request failed", exc_info=error)
    advice = "Tell the operator of this service: its log has the details."
    return HttpError(500, "internal", "Internal error.", advice)


def http_error(error: errors.NodegraftError) -> HttpError:
    """Convert an error of nodegraft to an HTTP error."""
    matches = (response for kind, response in _RESPONSES.items() if isinstance(error, kind))
    status, advice = next(matches, (409, _SEE_SCHEMA))
    message, more = error.what_happened or str(error), dict[str, Any]()
    if isinstance(error, errors.CandidateWaitsError):
        number = error.candidate
        advice = (
            f"Promote it (POST /v1/versions/{number}:promote), discard it (POST /v1/versions/"
            f"{number}:discard), or omit promote=true to add the change to it."
        )
        return HttpError(409, error.code, message, advice)
    if isinstance(error, errors.TablesError):
        # Replace the error's own advice, which mentions Python arguments and CLI options.
        advice = "Correct or omit these rows of `nodes` and `edges`, and send it again."
        return HttpError(status, error.code, message, advice)
    if isinstance(error, errors.SimilarNameError):
        advice = f'Use {error.other!r}; or, if these are two classes, send "force_name": true.'
        return HttpError(409, error.code, message, advice)
    if isinstance(error, errors.GateError):
        more["objections"] = list(error.objections)
    headers = {"Retry-After": "5"} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
    return HttpError(status, error.code, message, advice, headers, **more)


def add_error_handlers(app: FastAPI) -> None:
    """Register handlers that respond to every error with what happened and what to do."""
    app.add_exception_handler(errors.NodegraftError, _handler(http_error))
    app.add_exception_handler(HttpError, _handler(lambda error: error))
    app.add_exception_handler(RequestValidationError, _handler(_invalid_request))
    app.add_exception_handler(HTTPException, _handler(_from_http_exception))


def _handler(
    convert: Callable[[Any], HttpError],
) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handle(request: Request, error: Exception) -> Response:
        return convert(error).response(request.url.path)

    return handle


def _invalid_request(error: RequestValidationError) -> HttpError:
    problems = dict.fromkeys(
        f"{_field_path(problem['loc'])}: {problem['msg'].lower()}" for problem in error.errors()
    )
    message = f"The request is invalid: {'; '.join(list(problems)[:MAX_PROBLEMS])}."
    # A body of another content type is text to FastAPI, even if it is JSON.
    is_text = any(problem["type"] == "model_attributes_type" for problem in error.errors())
    advice = "Send a JSON object with the header Content-Type: application/json."
    return HttpError(422, "invalid_request", message, advice if is_text else _SEE_SCHEMA)


def _field_path(location: tuple[int | str, ...]) -> str:
    # Remove types: if a field may have several types, Pydantic adds the type that it tried to the
    # location.
    types = ("str", "int", "float", "bool")
    parts = map(str, location)
    return ".".join(part for part in parts if part not in types and "[" not in part)


def _from_http_exception(error: HTTPException) -> HttpError:
    status = HTTPStatus(error.status_code)
    code = status.phrase.lower().replace(" ", "_")
    return HttpError(status, code, f"{error.detail}.", _SEE_SCHEMA, error.headers)
