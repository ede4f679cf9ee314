"""The body of a request, read whole before anybody parses it: not too large, not too slowly."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import Message, Receive

from nodegraft.service.auth.limits import BODY_SECONDS, MOST_BYTES
from nodegraft.service.http_error import HttpError


async def whole_body(headers: Headers, receive: Receive) -> Receive:
    """A way to receive what has been received; a body that is too large or too slow is refused.

    Args:
        headers: Of the request.
        receive: Where its body comes from.
    """
    if "content-length" not in headers and "transfer-encoding" not in headers:
        return receive
    if int(headers.get("content-length", 0)) > MOST_BYTES:
        raise _too_large()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = await _read(receive)
    except TimeoutError:
        told = f"The request body did not arrive within {BODY_SECONDS:g} s."
        raise HttpError(
            408, "too_slow", told, "Send it at once.", {"Connection": "close"}
        ) from None
    return _again(body, receive)


def refuse_body(headers: Headers) -> None:
    """Refuse a request that has a body, without reading it.

    Args:
        headers: Of the request.
    """
    if "transfer-encoding" in headers or int(headers.get("content-length", 0)):
        message = "This path takes no request body."
        advice = "Send the request without a body."
        raise HttpError(413, "too_large", message, advice, {"Connection": "close"})


def _too_large() -> HttpError:
    told = f"The request body is larger than {MOST_BYTES:,} bytes."
    return HttpError(413, "too_large", told, "Send it in parts.", {"Connection": "close"})


async def _read(receive: Receive) -> bytes:
    parts, size = list[bytes](), 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HttpError(
                400,
                "cut",
                "The connection closed before the end of the request body.",
                "Send it again.",
            )
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MOST_BYTES:
            raise _too_large()
        if not message.get("more_body", False):
            return b"".join(parts)


def _again(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def once_more() -> Message:
        return messages.pop() if messages else await receive()

    return once_more
