"""Tokens: made once, kept as hashes, revoked at once; and who may do what with them."""

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from nodegraft.base.errors import ParameterError, StoreError
from nodegraft.service.application import application
from nodegraft.service.door import OPEN
from nodegraft.service.logs import JsonLines
from nodegraft.service.settings import Settings
from nodegraft.service.tokens import FILE, Scope, Tokens
from tests.service.served import asked


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def basic(given: str) -> dict[str, str]:
    return {"Authorization": f"Basic {given}"}


ODD = ("", "x", "Og==", "OjpY", "//79", "nodegraft_", "YW55Ym9keQ==", "=" * 4_000)
"""No text, no colon, no password, no letters, no base64."""


def test_a_token_is_found_by_its_secret_alone(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    secret = tokens.add("ci", Scope.TEACH)
    file = tmp_path / FILE
    assert secret not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    found = Tokens(tmp_path).find(secret)
    assert found is not None
    assert (found.name, found.scope) == ("ci", Scope.TEACH)
    for other in ("", secret[:-1], secret + "x", found.digest, "é\ud800"):
        assert tokens.find(other) is None


def test_tokens_have_names_of_their_own(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    tokens.add("ci", Scope.READ)
    with pytest.raises(ParameterError, match="'ci' already"):
        tokens.add("ci", Scope.READ)
    with pytest.raises(ParameterError, match="no token called 'anna'"):
        tokens.revoke("anna")
    with pytest.raises(ParameterError, match="up to 100 letters"):
        tokens.add("a\nb", Scope.READ)
    tokens.revoke("ci")
    assert tokens.listed() == ()


@pytest.mark.parametrize("content", ["", "[]", '{"tokens": [{"name": "x"}]}', '{"tokens": [1]}'])
def test_a_file_that_says_nothing_lets_nobody_in(content: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(content)
    with pytest.raises(StoreError, match="cannot be read"):
        Tokens(tmp_path).find("secret")


def test_a_token_that_is_revoked_is_refused_at_once(shop: Path) -> None:
    tokens = Tokens(shop)
    secret = tokens.add("ci", Scope.READ)
    with asked(shop) as client:
        assert client.get("/v1/classes", headers=bearer(secret)).status_code == 200
        tokens.add("anna", Scope.ADMIN)
        tokens.revoke("ci")
        assert client.get("/v1/classes", headers=bearer(secret)).status_code == 401
        # Whoever revokes the last one does not mean to let everybody in.
        tokens.revoke("anna")
        assert client.get("/v1/classes").status_code == 401


def test_a_service_for_others_stays_shut_without_its_file(shop: Path) -> None:
    with asked(shop, host="192.0.2.7") as client:
        assert client.get("/v1/classes").status_code == 401
    # So does a replica on a node of a cluster to which nobody copied it.
    with asked(shop, behind_others=True) as client:
        assert client.get("/v1/classes").status_code == 401


def routes() -> list[tuple[str, str]]:
    """All of the OpenAPI document."""
    paths = application(Settings(Path("nowhere"))).openapi()["paths"]
    return [(method.upper(), path) for path, methods in paths.items() for method in methods]


ROUTES = routes()
TEACHING = {
    "/v1/classes": "POST",
    "/v1/classes:preview": "POST",
    "/v1/labels": "POST",
    "/v1/nodes": "POST",
    "/label-studio/webhook": "POST",
    "/label-studio/train": "POST",
}


def needed(method: str, path: str) -> Scope | None:
    """What a route takes, as the pages say it."""
    if path in OPEN:
        return None
    if path.endswith(":promote"):
        return Scope.ADMIN
    if TEACHING.get(path) == method or path.endswith((":undo", ":discard")) or method == "DELETE":
        return Scope.TEACH
    return Scope.READ


def test_every_route_is_there() -> None:
    assert len(ROUTES) == 34
    assert sum(needed(*route) is None for route in ROUTES) == len(OPEN)


def test_every_route_lets_in_those_who_may_and_nobody_else(shop: Path) -> None:
    tokens = Tokens(shop)
    secrets = {scope: tokens.add(scope.value, scope) for scope in Scope}
    with asked(shop) as client:
        for method, pattern in ROUTES:
            # Nothing that exists, and no body: whoever is let in is told of a mistake.
            path = re.sub(r"\{[^}]*\}", "999", pattern)
            wanted = needed(method, pattern)
            for shown in ({}, bearer("wrong"), bearer(""), *map(basic, ODD)):
                status = client.request(method, path, headers=shown).status_code
                assert (status == 401) == (wanted is not None), (method, pattern)
            for scope, secret in secrets.items():
                answer = client.request(method, path, headers=bearer(secret))
                refused = wanted is not None and not scope.allows(wanted)
                assert (answer.status_code == 403) == refused, (method, pattern, scope)
                assert answer.status_code != 401
                assert answer.status_code < 500


def test_letting_a_version_answer_at_once_takes_more_than_teaching(
    shop: Path, new: dict[str, list[Any]]
) -> None:
    tokens = Tokens(shop)
    teach, admin = (tokens.add(scope.value, scope) for scope in (Scope.TEACH, Scope.ADMIN))
    with asked(shop) as client:
        sent: dict[str, Any] = {"json": {"classes": new}, "params": {"promote": True}}
        assert client.post("/v1/classes", **sent, headers=bearer(teach)).status_code == 403
        made = client.post("/v1/classes", **sent, headers=bearer(admin))
        assert made.json()["session"]["by"] == "admin"


def test_a_service_is_open_to_others_only_with_tokens_and_a_name(shop: Path) -> None:
    Settings(shop).check()
    Settings(shop, host="localhost").check()
    for host in ("0.0.0.0", "192.0.2.7", "shop.example"):  # noqa: S104
        with pytest.raises(ParameterError, match="no token"):
            Settings(shop, host=host).check()
    Tokens(shop).add("ci", Scope.READ)
    Settings(shop, host="192.0.2.7").check()
    with pytest.raises(ParameterError, match="--name"):
        Settings(shop, host="0.0.0.0").check()  # noqa: S104
    Settings(shop, host="0.0.0.0", names=("shop.example",)).check()  # noqa: S104


def test_the_log_names_neither_tokens_nor_nodes(
    shop: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secret = Tokens(shop).add("ci", Scope.READ)
    with asked(shop) as client, caplog.at_level("INFO", "nodegraft.service"):
        client.get("/v1/explain", params={"node": "987654"}, headers=bearer(secret))
        client.get("/v1/strange/987654", headers=bearer("987654"))
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records]
    assert [(line["status"], line["caller"]) for line in lines] == [(404, "ci"), (401, "")]
    assert lines[0]["route"] == "/v1/explain"
    assert secret not in str(lines)
    assert "987654" not in str(lines)
