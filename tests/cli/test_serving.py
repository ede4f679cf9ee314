"""Tokens on the command line: shown once, listed without their secrets, revoked; who needs one."""

from pathlib import Path

from typer.testing import CliRunner, Result

from nodegraft.cli.app import app
from nodegraft.store.scope import Scope
from tests.service.token_help import added
from tests.store.small import made


def token(*words: str) -> Result:
    return CliRunner().invoke(app, ["token", *words])


def test_a_token_is_shown_once_listed_by_name_and_revoked(tmp_path: Path) -> None:
    place = str(tmp_path / "shop")
    made(tmp_path / "shop")[0].close()
    assert "no API token" in token("list", place).output
    secret = token("add", place, "--name", "ci", "--scope", "teach").output.strip()
    assert secret.startswith("nodegraft_")
    listed = token("list", place).output
    assert "ci" in listed
    assert "teach" in listed
    assert secret not in listed
    assert "never" in listed
    taken = token("add", place, "--name", "ci")
    assert taken.exit_code == 2
    assert "'ci' already" in taken.output
    assert token("revoke", place, "--name", "ci").exit_code == 0
    assert "All API tokens were revoked: add one" in " ".join(token("list", place).output.split())
    assert "no token called 'ci'" in token("revoke", place, "--name", "ci").output


def test_a_token_may_expire(tmp_path: Path) -> None:
    place = str(tmp_path / "shop")
    made(tmp_path / "shop")[0].close()
    for wrong in ("soon", "3w", "2020-01-01", "d"):
        refused = token("add", place, "--name", "ci", "--expires", wrong)
        assert refused.exit_code == 2
        assert "--expires" in refused.output
    assert token("add", place, "--name", "ci", "--expires", "2131-05-06").exit_code == 0
    assert "2131-05-06 00:00" in token("list", place).output


def test_a_cluster_serves_no_store_without_a_token(tmp_path: Path) -> None:
    made(tmp_path / "shop")[0].close()
    # Its proxy may listen to everybody already, whatever --host says here.
    told = ["serve", str(tmp_path / "shop"), "--host", "127.0.0.1", "--ray", "127.0.0.1:9"]
    refused = CliRunner().invoke(app, told)
    assert refused.exit_code == 2
    assert (
        "A cluster can be reached from other machines, but this store has no API token"
        in " ".join(refused.output.split())
    )
    added(tmp_path / "shop", "ci", Scope.READ)
    assert "Cannot connect to a Ray cluster" in CliRunner().invoke(app, told).output
