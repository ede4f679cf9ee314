"""`grow`, `sync` and `settings` in a terminal: dry runs, refusals, warnings."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from nodegraft.cli.app import app
from nodegraft.store.store import Store

WORDS = {"cap": "a soft cap with a brim", "boot": "a hard boot", "lamp": "a bright lamp"}
NODES = {f"{name}{n}": f"{text} number {n}" for n in range(20) for name, text in WORDS.items()}


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})


def table(place: Path, head: str, rows: list[tuple[str, str]]) -> str:
    place.write_text("\n".join([head, *(f"{one},{other}" for one, other in rows), ""]))
    return str(place)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("tables")
    keys = list(NODES)
    known = [(key, key.rstrip("0123456789")) for key in keys[:45]]
    places = {
        "nodes": table(folder / "nodes.csv", "key,text", list(NODES.items())),
        "truncated": table(folder / "truncated.csv", "key,text", list(NODES.items())[:9]),
        "new": table(folder / "new.csv", "key,text", [("cap77", "a soft cap")]),
        "edges": table(
            folder / "edges.csv", "source,target", list(zip(keys[:-3], keys[3:], strict=True))
        ),
        "labels": table(folder / "labels.csv", "key,label", known),
        "first": str(folder / "first"),
    }
    given = [word for name in ("nodes", "edges", "labels") for word in (f"--{name}", places[name])]
    done = call("init", places["first"], *given, "--text", "text")
    assert done.exit_code == 0, done.output
    return places


@pytest.fixture
def shop(tables: dict[str, str], tmp_path: Path) -> str:
    return shutil.copytree(tables["first"], tmp_path / "shop").as_posix()


def newest(shop: str) -> tuple[int, int]:
    with Store.open(shop) as store:
        return store.newest, store.live


def test_a_truncated_table_is_refused(shop: str, tables: dict[str, str]) -> None:
    refused = call("sync", shop, "--nodes", tables["truncated"], "--promote")
    assert refused.exit_code == 2
    assert "51 of 60 nodes (85.0 %) would be removed; the limit is 10 %" in refused.output
    assert "--override REASON" in refused.output
    assert newest(shop) == (1, 1)
    done = call("sync", shop, "--nodes", tables["truncated"], "--override", "sold out")
    assert done.exit_code == 0, done.output
    assert newest(shop) == (2, 1)


def test_a_dry_run_of_sync_says_what_would_go(shop: str, tables: dict[str, str]) -> None:
    seen = call("sync", shop, "--nodes", tables["truncated"], "--dry-run")
    assert seen.exit_code == 0, seen.output
    assert "Nodes: 0 added, 51 of 60 removed" in seen.output
    assert "Labels: 36 of 45 removed." in seen.output
    assert "3 classes would lose labels" in seen.output
    assert "Quality gate: 51 of 60 nodes (85.0 %)" in seen.output
    assert "of 9 predictions" in seen.output
    assert "nothing was changed." in seen.output
    assert newest(shop) == (1, 1)


def test_a_dry_run_of_grow(shop: str, tables: dict[str, str]) -> None:
    seen = call("grow", shop, "--nodes", tables["new"], "--dry-run")
    assert seen.exit_code == 0, seen.output
    assert "Nodes: 1 added, 0 of 60 removed" in seen.output
    assert "of 60 predictions" in seen.output
    assert newest(shop) == (1, 1)


def test_edges_are_removed_on_purpose_alone(shop: str, tables: dict[str, str]) -> None:
    both = call("sync", shop, "--nodes", tables["nodes"], "--edges", tables["edges"], "--no-edges")
    assert both.exit_code == 2
    assert "--edges or --no-edges" in both.output
    kept = call("sync", shop, "--nodes", tables["nodes"])
    assert "sync: nothing new" in kept.output
    gone = call("sync", shop, "--nodes", tables["nodes"], "--no-edges")
    assert "57 edges removed" in gone.output


def test_settings_are_shown_changed_and_remembered(shop: str, tables: dict[str, str]) -> None:
    shown = call("settings", shop)
    assert "max_removed_share" in shown.output
    assert "Largest share of all nodes" in shown.output
    assert "No setting was ever changed." in call("settings", shop, "--history").output
    done = call("settings", shop, "max_removed_share=0.9", "--note", "stocktaking", "--by", "anna")
    assert "Setting max_removed_share is now 0.9 (before: 0.1)." in done.output
    assert call("sync", shop, "--nodes", tables["truncated"]).exit_code == 0
    told = call("settings", shop, "--history").output
    assert "max_removed_share: default → 0.9" in told
    assert "stocktaking" in told
    assert "anna" in told
    for wrong in ("max_removed_share=2", "max_removed_share", "max=1"):
        refused = call("settings", shop, wrong)
        assert refused.exit_code == 2
        assert "Error:" in refused.output
    assert call("settings", shop, "max_removed_share=0.2", "--history").exit_code == 2


def test_warnings_are_shown_and_do_not_block(shop: str) -> None:
    lesson = ("add", shop, "--class", "light", "--nodes", "lamp17", "--override", "a test")
    for done in (call(*lesson, "--dry-run"), call(*lesson)):
        assert done.exit_code == 0, done.output
        assert "Warning: Class 'light' has only 1 example" in done.output
    assert newest(shop) == (2, 1)


def test_renaming_says_that_nothing_changes(shop: str) -> None:
    assert "0 of 60 predictions" in call("rename", shop, "lamp", "light").output


def test_keys_of_the_version_that_waits_are_named(shop: str, tables: dict[str, str]) -> None:
    assert call("grow", shop, "--nodes", tables["new"]).exit_code == 0
    for nodes in ("cap77", "cap77,boot1"):
        refused = call("predict", shop, "--nodes", nodes)
        assert refused.exit_code == 2
        assert "'cap77' is only in version 2, which waits for review" in refused.output
    assert call("predict", shop, "--nodes", "cap77", "--version", "2").exit_code == 0
    assert "only in version" not in call("predict", shop, "--nodes", "cap78").output
