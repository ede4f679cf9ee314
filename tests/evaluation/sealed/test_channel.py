import socket
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.base.errors import DataError
from nodegraft.evaluation.sealed.channel import Channel, Message


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_a_message_arrives_as_it_was_sent(ends: tuple[socket.socket, socket.socket]) -> None:
    arrays: dict[str, NDArray[Any]] = {
        "a": np.arange(6).reshape(2, 3).T,
        "empty": np.zeros((0, 2), dtype=np.float32),
    }
    Channel(ends[0]).send(Message("fit", {"n": [1, "é"]}, arrays))
    message = Channel(ends[1]).receive()
    assert (message.kind, message.fields) == ("fit", {"n": [1, "é"]})
    for name, array in arrays.items():
        np.testing.assert_array_equal(message.arrays[name], array)
        assert message.arrays[name].dtype == array.dtype


def test_the_end_of_the_other_side_is_an_error(ends: tuple[socket.socket, socket.socket]) -> None:
    ends[0].sendall(b"\x01")
    ends[0].close()
    with pytest.raises(EOFError):
        Channel(ends[1]).receive()


@pytest.mark.parametrize("text", [b"{", b'"text"', b'{"kind": "a"}'])
def test_malformed_json_is_refused(ends: tuple[socket.socket, socket.socket], text: bytes) -> None:
    ends[0].sendall(len(text).to_bytes(8, "little") + bytes(8) + text)
    with pytest.raises(DataError, match="malformed"):
        Channel(ends[1]).receive()


def test_long_messages_are_refused_before_they_are_read(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    Channel(ends[0]).send(Message("predictions", {}, {"a": np.zeros(1000)}))
    with pytest.raises(DataError, match="too long"):
        Channel(ends[1], max_bytes=1000).receive()
