"""Tokens on the command line: shown once, listed without their secrets, revoked; who needs one."""

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


def test_a_cluster_serves_no_store_without_a_token(tmp_path: Path) -> None:
    made(tmp_path / "shop")[0].close()
    # Its proxy may listen to everybody already, whatever --host says here.
    told = ["serve", str(tmp_path / "shop"), "--host", "127.0.0.1", "--ray", "127.0.0.1:9"]
    refused = CliRunner().invoke(app, told)
    assert refused.exit_code == 2
    assert "A cluster can be reached by others, and this store has no token" in " ".join(
        refused.output.split()
    )
    Tokens(tmp_path / "shop").add("ci", Scope.READ)
    assert "Cannot connect to a Ray cluster" in CliRunner().invoke(app, told).output
