"""Options for tables of several node types on the command line."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from nodegraft.cli.app import app
from nodegraft.cli.options import by_node_type
from tests.store.test_node_types import edges, nodes, tables


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    read = tables().labels
    assert read is not None
    pairs = [(key, name) for name, keys in read.items() for key in keys.tolist()]
    write("products.csv", nodes()["product"])
    write("carts.csv", edges()["product:in:cart"])
    write("labels.csv", {"sku": [key for key, _ in pairs], "label": [name for _, name in pairs]})
    return tmp_path


def write(name: str, columns: dict[str, list[str]]) -> None:
    lines = [",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]
    Path(name).write_text("\n".join(lines))


def run(line: str) -> str:
    result = CliRunner().invoke(app, line.split(), env={"COLUMNS": "200"})
    return result.output


INIT = (
    "init store --nodes product=products.csv --edges product:in:cart=carts.csv --labels labels.csv "
    "--key product=sku --key cart=cart --text text --min-documents 1 --write-config"
)


@pytest.mark.usefixtures("folder")
def test_a_store_from_the_command_line() -> None:
    created = run(INIT)
    assert "60  nodes of type product, which are classified" in created
    assert "15  nodes of type cart, which are not classified" in created
    # The configuration file has the keys, so later commands need not name them.
    write("new.csv", {"sku": ["p60"], "text": ["sole lace"]})
    write("today.csv", {"sku": ["p60"], "cart": ["c4"]})
    grown = run("grow store --nodes new.csv --edges product:in:cart=today.csv --promote")
    assert "1 node added, 1 edge added" in grown
    synced = run("sync store --nodes product=products.csv --dry-run")
    assert "Nodes: 0 added, 1 of 76 removed, 0 with changed features." in synced
    write("asked.csv", {"sku": ["p0", "p1"]})
    assert "predictions for 2 nodes" in run("predict store --table asked.csv --csv asked_out.csv")
    run("predict store --all --csv out.csv")
    assert len(Path("out.csv").read_text().splitlines()) == 62
    assert "both linked to" in run("explain store p60 --version 2")
    assert "only nodes of type product have a class" in run("predict store --nodes cart:c4")
    again = INIT.replace("store", "again").replace(" --key product=sku --key cart=cart", "")
    assert "15  nodes of type cart" in run(again.replace(" --write-config", ""))


@pytest.mark.usefixtures("folder")
def test_tables_that_do_not_go_together() -> None:
    assert "or TYPE=TABLE for each of several types" in run(INIT + " --nodes carts.csv")
    one = INIT.replace("product:in:cart=carts.csv", "carts.csv")
    assert "give each edge table with its type" in " ".join(run(one).split())


def test_paths_with_an_equals_sign_are_paths(tmp_path: Path) -> None:
    place = tmp_path / "year=2026.csv"
    place.touch()
    assert by_node_type([str(place)], "--nodes", "TABLE") == str(place)
    query = "sqlite:///shop.db#SELECT * FROM nodes WHERE kind = 'a'"
    assert by_node_type([query], "--nodes", "TABLE") == query
    assert by_node_type([f"product={place}"], "--nodes", "TABLE") == {"product": str(place)}
