"""Tokens on the command line: shown once, listed without their secrets, revoked."""

from pathlib import Path

from typer.testing import CliRunner, Result

from nodegraft.cli.app import app
from nodegraft.service.tokens import Scope, Tokens
from tests.store.small import made


def token(*words: str) -> Result:
    return CliRunner().invoke(app, ["token", *words])


def test_a_token_is_shown_once_listed_by_name_and_revoked(tmp_path: Path) -> None:
    place = str(tmp_path / "shop")
    made(tmp_path / "shop")[0].close()
    assert "no token" in token("list", place).output
    secret = token("add", place, "--name", "ci", "--scope", "teach").output.strip()
    found = Tokens(tmp_path / "shop").find(secret)
    assert found is not None
    assert (found.name, found.scope) == ("ci", Scope.TEACH)
    listed = token("list", place).output
    assert "ci" in listed
    assert "teach" in listed
    assert secret not in listed
    assert token("revoke", place, "--name", "ci").exit_code == 0
    assert Tokens(tmp_path / "shop").find(secret) is None
