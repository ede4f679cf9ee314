"""Synchronous and asynchronous clients of the HTTP service, with retries."""

import asyncio
import json
import time
from collections.abc import Awaitable, Iterable, Iterator
from itertools import count
from typing import Any, ClassVar, Self

from nodegraft.base.errors import NodegraftError, ParameterError
from nodegraft.base.extras import extra
from nodegraft.client.calls import (
    ARROW,
    Call,
    Calls,
    Key,
    Response,
    VersionName,
    listed,
    predict_call,
)

with extra("client", package="httpx2", purpose="A client of the service"):
    import httpx2

RETRIED = (429, 502, 503, 504)
"""HTTP status codes of temporary errors: too many requests, or a service that starts or stops."""

NOT_RETRIED = ("job_timeout", "out_of_memory", "writer_died")
"""Error codes of changes that are not retried, because they would fail again."""

LONGEST_PAUSE = 30.0
"""Maximum number of seconds between two attempts."""

MAX_KEYS = 10_000
"""Maximum number of keys in a request."""

Json = dict[str, Any]


class ServiceError(NodegraftError):
    """Error response of the service.

    Args:
        status: HTTP status; 0 if the service cannot be reached.
        code: Machine-readable error code, such as ``unknown_node``.
        message: Sentence that describes the error.
        what_to_do: Sentence that advises the caller.
        objections: Reasons of the quality gate to refuse a change.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        what_to_do: str,
        objections: tuple[str, ...] = (),
    ) -> None:
        super().__init__(f"{message} {what_to_do}")
        self.status, self.code = status, code
        self.what_to_do, self.objections = what_to_do, objections


class _Connected(Calls[Response]):
    """Base class of both clients: it opens the connection."""

    _HTTP: ClassVar[Any]
    """Client class of httpx2."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = 120.0,
        attempts: int = 4,
        **options: Any,
    ) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token.strip()}"}
        self._attempts = attempts
        self._http = self._HTTP(base_url=url, headers=headers, timeout=timeout, **options)


class Client(_Connected[Json]):
    """Synchronous client of a service.

    >>> with Client("http://localhost:8000") as client:  # doctest: +SKIP
    ...     client.predict(["p7", "p9"])["predictions"]

    A request is retried if it fails because of the network or an unavailable service. Changes can
    be retried safely, because each change has an idempotency key.

    Args:
        url: URL of the service.
        token: API token, from ``nodegraft token add``; None for a service without tokens.
        timeout: Seconds to wait for a response. A change of a large store can take minutes.
        attempts: Maximum number of attempts per request.
        options: Further options of ``httpx2.Client``, such as ``verify`` or ``proxy``.
    """

    _HTTP = httpx2.Client

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def predict_table(
        self, keys: Iterable[Key], *, version: VersionName = "live", **options: Any
    ) -> Any:
        """Predict the classes of any number of nodes, in batches of 10,000 keys per request.

        Returns:
            A ``pyarrow.Table`` with the columns of ``Store.predict(…).to_arrow()``. All rows are
            predicted by one version, even if another version becomes live meanwhile.

        Args:
            keys: Node keys.
            version: Version that predicts: a number, ``live`` or ``candidate``.
            options: Other arguments of :meth:`predict`.
        """
        tables = list[Any]()
        for part in _key_parts(keys):
            tables.append(self._send(predict_call(part, version, options, ARROW)))
            version = _version_of(tables[0])
        return _joined_tables(tables)

    def _send(self, call: Call) -> Any:
        for attempt in count(1):
            result = outcome(call, self._response(call), attempt, self._attempts)
            if not isinstance(result, float):
                return result
            time.sleep(result)
        raise AssertionError("unreachable")

    def _response(self, call: Call) -> Any:
        try:
            return self._http.request(**_request(call))
        except httpx2.RequestError as error:
            return error


class AsyncClient(_Connected[Awaitable[Json]]):
    """Asynchronous client of a service, for use with asyncio; otherwise like :class:`Client`."""

    _HTTP = httpx2.AsyncClient

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def predict_table(
        self, keys: Iterable[Key], *, version: VersionName = "live", **options: Any
    ) -> Any:
        """Predict the classes of any number of nodes; like :meth:`Client.predict_table`.

        Args:
            keys: Node keys.
            version: Version that predicts: a number, ``live`` or ``candidate``.
            options: Other arguments of :meth:`predict`.
        """
        tables = list[Any]()
        for part in _key_parts(keys):
            tables.append(await self._send(predict_call(part, version, options, ARROW)))
            version = _version_of(tables[0])
        return _joined_tables(tables)

    async def _send(self, call: Call) -> Any:
        for attempt in count(1):
            result = outcome(call, await self._response(call), attempt, self._attempts)
            if not isinstance(result, float):
                return result
            await asyncio.sleep(result)
        raise AssertionError("unreachable")

    async def _response(self, call: Call) -> Any:
        try:
            return await self._http.request(**_request(call))
        except httpx2.RequestError as error:
            return error


def outcome(
    call: Call, response: "httpx2.Response | httpx2.RequestError", attempt: int, attempts: int
) -> Any:
    """Return the content of a response, or the seconds to wait before the next attempt.

    Args:
        response: Response of the service, or the network error if there was no response.
        attempts: Maximum number of attempts.
    """
    if isinstance(response, httpx2.RequestError):
        if attempt < attempts:
            return _pause(attempt)
        raise ServiceError(
            0,
            "unreachable",
            f"No response to {call.method} {call.path} after {attempt} attempts "
            f"({str(response) or type(response).__name__}).",
            "Check the URL, and that the service runs: GET /livez.",
        ) from response
    if response.is_success:
        return _content_of(call, response)
    error = _error_of(response)
    if attempt == attempts or response.status_code not in RETRIED or error.code in NOT_RETRIED:
        raise error
    wait = response.headers.get("Retry-After", "")
    return min(LONGEST_PAUSE, max(float(wait) if wait.isdigit() else 0.0, _pause(attempt)))


def _pause(attempt: int) -> float:
    """Return the seconds before a retry: 0.25, 0.5, 1, … after attempt 1, 2, 3, …"""
    return min(LONGEST_PAUSE, 0.25 * 2.0 ** (attempt - 1))


def _request(call: Call) -> Json:
    return {
        "method": call.method,
        "url": call.path,
        "params": call.parameters,
        "json": call.body,
        "headers": dict(call.headers),
    }


def _content_of(call: Call, response: httpx2.Response) -> Any:
    """Return the content of a successful response; raise an error for a page from a proxy."""
    if call.headers.get("Accept") == ARROW:
        if response.headers.get("Content-Type") != ARROW:
            raise _not_nodegraft(response)
        return _table_of(response.content)
    try:
        content = response.json()
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise _not_nodegraft(response)
    return content


def _error_of(response: httpx2.Response) -> ServiceError:
    """Return the error in a response; handle errors of proxies, which send no JSON."""
    try:
        error = response.json()["error"]
        return ServiceError(
            response.status_code,
            error["code"],
            error["message"],
            error["what_to_do"],
            tuple(error.get("objections") or ()),
        )
    except (ValueError, KeyError, TypeError):
        return _not_nodegraft(response)


def _not_nodegraft(response: httpx2.Response) -> ServiceError:
    status, start = response.status_code, " ".join(response.text.split())[:200]
    advice = "It does not come from nodegraft: check the URL, and the proxy in between."
    return ServiceError(status, "not_nodegraft", f"Status {status}: {start!r}.", advice)


def _key_parts(keys: Iterable[Key]) -> Iterator[list[Key]]:
    """Yield batches of keys, each for one request; refuse an empty list."""
    every = listed(keys)
    if not every:
        raise ParameterError("There are no node keys: give at least one.")
    return (every[start : start + MAX_KEYS] for start in range(0, len(every), MAX_KEYS))


def _table_of(content: bytes) -> Any:
    """Read the table from an Arrow stream."""
    import pyarrow as pa

    with pa.ipc.open_stream(content) as stream:
        return stream.read_all()


def _version_of(table: Any) -> int:
    """Return the number of the version that made the predictions in a table."""
    return int(json.loads(table.schema.metadata[b"nodegraft"])["model_version"])


def _joined_tables(tables: list[Any]) -> Any:
    """Concatenate the rows of several tables."""
    import pyarrow as pa

    # The key column is an integer column in a batch with only integer keys, but a text column in
    # any other batch, so convert it to text.
    if len({table.schema.field("node").type for table in tables}) > 1:
        tables = [table.set_column(0, "node", table["node"].cast(pa.string())) for table in tables]
    return pa.concat_tables(tables)
