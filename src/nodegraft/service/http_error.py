"""What a caller is told when something cannot be done: what it was, and what to do."""

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.responses import JSONResponse, Response

LOG = logging.getLogger("nodegraft.service")


class HttpError(Exception):
    """An answer that is an error.

    Args:
        status: Of HTTP.
        code: One word for programs.
        message: A sentence for people: what was given, what is wrong with it.
        what_to_do: Another one.
        headers: More headers of the answer.
        more: More fields of the error.
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
        self.told = {"code": code, "message": message, "what_to_do": what_to_do, **more}

    def __reduce__(self) -> tuple[Any, ...]:
        # It may come from another process.
        return partial(HttpError, self.status, headers=self.headers, **self.told), ()

    def response(self, path: str) -> Response:
        """As an answer.

        Args:
            path: That was asked for: the Open Inference Protocol says errors its own way.
        """
        told: object = self.told
        if path.startswith("/v2"):
            told = f"{self.told['message']} {self.told['what_to_do']}"
        headers = dict(self.headers or {})
        return JSONResponse({"error": told}, status_code=self.status, headers=headers)


def unexpected(error: Exception) -> HttpError:
    """What a caller is told of a mistake of ours, which is logged.

    Args:
        error: The mistake.
    """
    LOG.error("a request failed", exc_info=error)
    advice = "Tell the operator of this service: its log has the details."
    return HttpError(500, "internal", "Internal error.", advice)
