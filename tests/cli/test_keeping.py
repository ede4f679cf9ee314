"""A store on the command line that is promoted at once, pruned and purged."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nodegraft.cli.app import app
from tests.cli.test_wrong_inputs import invoke, made

__all__ = ["made"]


@pytest.fixture
def shop(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made / "shop", tmp_path / "shop")
    return tmp_path


def said(folder: Path, line: str) -> str:
    code, output = invoke(folder, line)
    assert code == 0, output
    return " ".join(output.split())


def test_a_change_answers_at_once_if_asked_to(shop: Path) -> None:
    assert "answers until" not in said(shop, "rename shop hats caps --promote")
    assert "2 live" in said(shop, "history shop")
    assert (shop / "shop" / "cards" / "version-2.md").exists()
    assert "Version 2 stays live" in said(shop, "rename shop caps wear")
    code, output = invoke(shop, "rename shop wear hats --promote")
    assert code == 2
    refused = " ".join(output.split())
    assert "version 3 waits for review, and would go live with this change" in refused
    assert "nodegraft discard STORE, or omit --promote" in refused
    assert "promote=True" not in refused
    discarded = said(shop, "discard shop 3 --note early")
    assert discarded == (
        "Version 4: discard version 3. Version 2 stays live, and no candidate version waits for "
        "review."
    )
    assert "Version 5: rename caps to hats" in said(shop, "rename shop caps hats --promote")
    assert "No candidate version waits for review" in invoke(shop, "discard shop")[1]


def test_a_store_is_pruned(shop: Path) -> None:
    assert said(shop, "prune shop") == "Nothing to prune: every file is needed."
    for old, new in (("hats", "caps"), ("caps", "wear"), ("wear", "hats")):
        said(shop, f"rename shop {old} {new}")
    would = said(shop, "prune shop --keep 1 --dry-run")
    assert would.startswith("Would prune versions 2-3 and free")
    done = said(shop, "prune shop --keep 1 --by anna")
    assert done.startswith("Pruned versions 2-3: ")
    assert done.endswith("Kept: versions 1, 4.")
    listed = said(shop, "history shop")
    assert "3 pruned rename caps to wear" in listed
    assert "prune versions 2-3 anna" in listed
    code, output = invoke(shop, "predict shop --nodes hats1 --version 3")
    assert (code, "was pruned on" in output) == (2, True)


def test_a_node_is_forgotten(shop: Path) -> None:
    said(shop, "label shop --class hats --nodes hats7 --note hats7")
    said(shop, "promote shop")
    told = said(shop, "purge shop hats7 hats1 --yes")
    assert not (shop / "shop" / "cards").exists()
    assert told.startswith("Purged 2 nodes. Version 3, rebuilt without them, is live")
    assert "purge 2 nodes from version 2" in said(shop, "history shop")
    assert invoke(shop, "explain shop hats7")[0] == 2
    assert said(shop, "predict shop --nodes hats8")


def test_nothing_is_forgotten_without_being_asked(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop)
    done = CliRunner().invoke(app, ["purge", "shop", "hats7"], input="n\n")
    assert (done.exit_code, "cannot be undone" in done.output) == (1, True)
    assert said(shop, "predict shop --nodes hats7")
