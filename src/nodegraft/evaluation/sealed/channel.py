"""Messages between the sealed process and the judge (the process that evaluates it).

Messages contain JSON and safetensors arrays, but no pickle.
"""

import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from nodegraft.base.errors import DataError

Arrays = Mapping[str, NDArray[Any]]

_LENGTHS = struct.Struct("<QQ")
"""Header of every message: the lengths of its JSON and of its arrays."""

MAX_JSON = 1 << 28


@dataclass(frozen=True)
class Message:
    """Message between two processes, with JSON and arrays."""

    kind: str
    """Type of the message."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    """Content as plain JSON."""

    arrays: Arrays = field(default_factory=dict)
    """Arrays by name."""


class Channel:
    """Endpoint that sends and receives messages over a socket.

    Args:
        end: Socket, which :meth:`close` closes.
        max_bytes: Maximum size of the arrays of a received message; None for no limit.
    """

    def __init__(self, end: socket.socket, max_bytes: int | None = None) -> None:
        self._socket = end
        self.max_bytes = max_bytes

    def send(self, message: Message) -> None:
        """Send a message."""
        text = json.dumps({"kind": message.kind, "fields": dict(message.fields)}).encode()
        plain = {name: np.ascontiguousarray(array) for name, array in message.arrays.items()}
        body = save(plain) if plain else b""
        self._socket.sendall(_LENGTHS.pack(len(text), len(body)))
        self._socket.sendall(text)
        self._socket.sendall(body)

    def receive(self) -> Message:
        """Wait for a message and return it.

        Raises:
            EOFError: If the other end is closed.
            DataError: If the message is malformed.
        """
        text_length, body_length = _LENGTHS.unpack(self._read(_LENGTHS.size))
        most = self.max_bytes
        if text_length > MAX_JSON or (most is not None and body_length > most):
            raise DataError(f"A message of {text_length + body_length:,} bytes is too long.")
        text, body = self._read(text_length), self._read(body_length)
        try:
            document = json.loads(text)
            return Message(document["kind"], document["fields"], load(body) if body else {})
        except (ValueError, KeyError, TypeError, SafetensorError) as error:
            raise DataError(f"A malformed message: {error!r}") from None

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _read(self, length: int) -> bytes:
        content = bytearray(length)
        rest = memoryview(content)
        while rest:
            count = self._socket.recv_into(rest)
            if not count:
                raise EOFError("The other end is closed.")
            rest = rest[count:]
        return bytes(content)
