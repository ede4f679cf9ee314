"""Messages between judge and sealed process: JSON and arrays in safetensors, never objects."""

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
"""Every message begins with the lengths of its JSON and of its arrays."""

MAX_JSON = 1 << 28


@dataclass(frozen=True)
class Message:
    """One message."""

    kind: str
    """What it is about."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    """Plain JSON."""

    arrays: Arrays = field(default_factory=dict)
    """Arrays by name."""


class Channel:
    """One end of a socket that carries messages.

    Args:
        end: The socket; it is closed with the channel.
        max_bytes: Largest size of the arrays of a message that is accepted; None for no limit.
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
        """Wait for a message; raise EOFError if the other end is closed, DataError if malformed."""
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
