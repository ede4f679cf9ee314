"""The client against a real service: all methods, errors, retries, an event loop."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pyarrow as pa
import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.client import AsyncClient, Client, ServiceError
from nodegraft.client import client as clients
from nodegraft.client.calls import Call
from nodegraft.service.auth import limits
from nodegraft.store.store import Store
from tests.service.running import Running, free_port, running
from tests.service.served import make_of_tables

HATS = ["hats7", "hats8"]
FEW = {"boots": ["shoes7", "shoes8", "shoes9"]}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    place = tmp_path_factory.mktemp("client") / "shop"
    make_of_tables(place)
    with running(place) as service:
        yield service


def url(service: Running) -> str:
    return f"http://127.0.0.1:{service.port}"


def test_every_route_of_the_client(service: Running) -> None:
    with Client(url(service)) as client:
        found = client.predict(HATS, top=2)
        assert [row["class"] for row in found["predictions"]] == ["hats", "hats"]
        assert client.explain("hats7")["node"] == "hats7"
        assert client.suggest(1)["suggestions"]
        assert {row["name"] for row in client.classes()["classes"]} == {"hats", "shoes"}
        assert client.summary()["nodes"] == 24
        assert client.search("hats7", limit=2)["nodes"]
        assert [row["node"] for row in client.nodes(HATS)["nodes"]] == HATS
        assert client.whoami()["name"] == "local"
        assert client.preview(FEW)["predictions_compared"] == 24

        added = client.add(FEW, note="new in autumn", override="a test")
        number = added["model_version"]
        assert client.history()["history"][0]["note"] == "new in autumn"
        assert client.versions()["candidate"] == number
        assert client.diff()["compared_with"] == 1
        promoted = client.promote(number)
        assert promoted["model_version"] == number
        assert client.drift()["model_version"] == number

        labelled = client.label({"boots": ["shoes10"]}, override="a test")["model_version"]
        assert client.discard(labelled)["change"]["action"] == "discard"
        assert (
            client.grow([{"key": "hats99", "text": "felt brim", "price": 7.0}], dry_run=True)[
                "nodes_added"
            ]
            == 1
        )
        row = {"text": "felt brim", "price": 7.0, "edges": [{"target": "hats1"}]}
        assert client.predict_rows([row], top=2)["predictions"][0]["class"] == "hats"
        assert client.suggest_classes(2)["model_version"] == number
        assert client.audit()["labels"] == []

        moved = client.relabel({"hats": ["shoes0"]}, override="a test")["change"]
        assert (moved["action"], moved["detail"]["classes"]) == ("relabel", {"hats": ["shoes0"]})
        assert client.unlabel(["shoes0"], override="a test")["change"]["action"] == "unlabel"
        assert client.rename("boots", "high boots")["change"]["action"] == "rename"
        assert client.move({"high boots": "shoes"})["change"]["action"] == "move"
        merged = client.merge(["high boots", "shoes"], "shoes", override="a test")
        assert merged["change"]["action"] == "merge"
        assert client.undo(merged["model_version"])["change"]["action"] == "undo"
        removed = client.remove("high boots", override="a test")
        assert removed["change"]["action"] == "remove"
        assert client.undo(removed["model_version"])["change"]["action"] == "undo"


def test_a_table_has_the_values_of_json(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "MAX_KEYS", 2)
    keys = [*HATS, "shoes7", "hats0", "nobody"]
    with Client(url(service)) as client:
        rows = client.predict(keys, top=2, coverage=0.9)["predictions"]
        table = client.predict_table(keys, top=2, coverage=0.9)
        with pytest.raises(ServiceError, match="nobody"):
            client.predict_table(["nobody"], missing="error")
        assert client.predict_table([*HATS, "nobody"], missing="skip").num_rows == 2
    wanted = []
    for row in rows:
        top = row.pop("top") or [{"class": None, "probability": None}] * 2
        for place, shown in enumerate(top, 1):
            row |= {f"class_{place}": shown["class"], f"probability_{place}": shown["probability"]}
        wanted.append(row)
    assert table.to_pylist() == wanted

    async def ask() -> Any:
        async with AsyncClient(url(service)) as client:
            return await client.predict_table(keys, top=2, coverage=0.9)

    assert asyncio.run(ask()).equals(table)


def test_client_and_service_have_the_same_limit() -> None:
    assert clients.MAX_KEYS == limits.MAX_KEYS


def test_the_rows_of_a_table_are_of_one_version() -> None:
    sent = list[Call]()

    class Offline(Client):
        def _send(self, call: Call) -> Any:
            sent.append(call)
            fields = {b"nodegraft": b'{"model_version": 3}'}
            return pa.table({"node": call.body["keys"]}).replace_schema_metadata(fields)  # type: ignore[index]

    keys = [str(number) for number in range(2 * clients.MAX_KEYS + 1)]
    assert Offline("http://nowhere").predict_table(keys)["node"].to_pylist() == keys
    assert [call.query["version"] for call in sent] == ["live", 3, 3]


def test_integer_and_text_keys_are_joined() -> None:
    fields = {b"nodegraft": b'{"model_version": 3}'}

    class Offline(Client):
        def _send(self, call: Call) -> Any:
            keys = call.body["keys"]  # type: ignore[index]
            column = keys if all(isinstance(key, int) for key in keys) else list(map(str, keys))
            return pa.table({"node": column}).replace_schema_metadata(fields)

    client = Offline("http://nowhere")
    found = client.predict_table([1] * clients.MAX_KEYS + [2, "zz"])["node"].to_pylist()
    assert found == ["1"] * clients.MAX_KEYS + ["2", "zz"]
    with pytest.raises(ParameterError, match="give at least one"):
        client.predict_table([])


def test_errors_have_code_and_advice(service: Running) -> None:
    with Client(url(service)) as client:
        with pytest.raises(ServiceError, match="unknown-key") as caught:
            client.predict(["unknown-key"], missing="error")
        assert (caught.value.status, caught.value.code) == (404, "unknown_node")
        assert "POST /v1/nodes" in caught.value.what_to_do


def test_a_client_in_an_event_loop(service: Running) -> None:
    async def ask() -> list[str]:
        async with AsyncClient(url(service)) as client:
            both = await asyncio.gather(*(client.predict([key]) for key in HATS))
        return [found["predictions"][0]["class"] for found in both]

    assert asyncio.run(ask()) == ["hats", "hats"]


def test_a_change_whose_response_was_lost_is_made_once(tmp_path: Path) -> None:
    """A proxy passes the first request on, and closes the connection before the response."""
    make_of_tables(tmp_path / "shop")
    with running(tmp_path / "shop") as service, socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = threading.Thread(target=_lose_one_response, args=(listener, service.port))
        proxy.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with Client(address, timeout=30) as client:
            added = client.add(FEW, override="a test")
        proxy.join(30)
        assert added["model_version"] == 2
    with Store.open(tmp_path / "shop") as store:
        assert len(store.history()) == 2


def _lose_one_response(listener: socket.socket, port: int) -> None:
    for lose in (True, False):
        caller, _ = listener.accept()
        with caller, socket.create_connection(("127.0.0.1", port), timeout=30) as behind:
            behind.sendall(_message(caller))
            response = _message(behind)
            if not lose:
                caller.sendall(response)


def _message(sender: socket.socket) -> bytes:
    """Head and body of one request or response."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += sender.recv(1 << 16)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        int(line.partition(b":")[2])
        for line in head.lower().splitlines()
        if line.startswith(b"content-length")
    )
    while len(body) < length:
        body += sender.recv(1 << 16)
    return head + b"\r\n\r\n" + body


def test_nobody_listens() -> None:
    with (
        Client(f"http://127.0.0.1:{free_port()}", attempts=2) as client,
        pytest.raises(ServiceError, match=r"after 2 attempts.*GET /livez") as caught,
    ):
        client.whoami()
    assert caught.value.code == "unreachable"


def test_waits_as_long_as_the_service_asks() -> None:
    busy = httpx2.Response(503, headers={"Retry-After": "7"}, json=_error("stopping"))
    assert clients.outcome(Call("GET", "/"), busy, 1, 3) == 7.0
    with pytest.raises(ServiceError, match="what happened"):
        clients.outcome(Call("GET", "/"), busy, 3, 3)
    not_started = httpx2.Response(503, json=_error("writer_not_started"))
    assert isinstance(clients.outcome(Call("POST", "/"), not_started, 1, 3), float)


@pytest.mark.parametrize("code", ["job_timeout", "out_of_memory", "writer_died"])
def test_a_change_that_would_fail_again_is_not_sent_again(code: str) -> None:
    with pytest.raises(ServiceError) as caught:
        clients.outcome(Call("POST", "/"), httpx2.Response(503, json=_error(code)), 1, 3)
    assert caught.value.code == code


def test_a_proxy_that_answers_itself() -> None:
    with pytest.raises(ServiceError, match="check the URL"):
        clients.outcome(Call("GET", "/"), httpx2.Response(404, text="<html>nothing here"), 1, 3)
    for page in ("<html>Sign in</html>", "[1]"):
        with pytest.raises(ServiceError, match="check the URL") as caught:
            clients.outcome(Call("GET", "/"), httpx2.Response(200, text=page), 1, 3)
        assert caught.value.code == "not_nodegraft"
    garbled = httpx2.MockTransport(lambda _: _garbled())
    with Client("http://x", transport=garbled, attempts=1) as client, pytest.raises(ServiceError):
        client.whoami()


def _garbled() -> httpx2.Response:
    return httpx2.Response(200, headers={"Content-Encoding": "gzip"}, content=b"no gzip")


def test_one_text_is_no_list_of_keys() -> None:
    with Client("http://127.0.0.1:1", attempts=1) as client:
        for call in (client.predict, client.nodes, lambda key: client.add({"boots": key})):
            with pytest.raises(ParameterError, match=r"write \['hats7'\]"):
                call("hats7")


def test_a_token_from_a_file_may_end_in_a_new_line() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json={"sent": request.headers["Authorization"]})

    line = "ng_1\n"
    with Client("http://x", token=line, transport=httpx2.MockTransport(answer)) as client:
        assert client.whoami() == {"sent": "Bearer ng_1"}


def _error(code: str) -> dict[str, dict[str, str]]:
    return {"error": {"code": code, "message": "what happened.", "what_to_do": "do this."}}
