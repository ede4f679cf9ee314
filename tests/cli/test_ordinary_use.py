"""A week of ordinary use with made-up tables: nothing that a user did not ask for changes.

Packages of an archive whose keys have leading zeros; five topics, of which four are known.
"""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect
from typer.testing import CliRunner, Result

import nodegraft as ng
from nodegraft.analysis.labels.changes import Change
from nodegraft.cli.app import app
from nodegraft.cli.render.values import likely
from tests.service.browser import opened
from tests.service.running import running

# All of these use one store, which takes seconds to make.
pytestmark = pytest.mark.xdist_group("ordinary_use")

TOPICS = {
    "browser": "tab page cookie history window",
    "database": "query index table transaction row",
    "editor": "syntax cursor buffer highlight file",
    "game": "player level score board puzzle",
    "music": "song chord audio playlist track",
}
EACH = 60
KNOWN, NEW = ("browser", "database", "editor", "game"), "music"


def key(place: int) -> str:
    return f"{place:04d}"


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments], env={"COLUMNS": "120"})


def done(*arguments: object) -> str:
    result = call(*arguments)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def refused(*arguments: object) -> str:
    result = call(*arguments)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    return " ".join(result.output.split())


def write(place: Path, head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Path:
    with place.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return place


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three tables and a store of them."""
    folder, random = tmp_path_factory.mktemp("archive"), Random(7)  # noqa: S311
    topics = [topic for topic in TOPICS for _ in range(EACH)]
    texts = [
        " ".join(random.choices(TOPICS[topic].split(), k=3) + random.choices("abcdefgh", k=2))
        for topic in topics
    ]
    nodes = [(key(place), text) for place, text in enumerate(texts)]
    groups = {topic: [key(i) for i, name in enumerate(topics) if name == topic] for topic in TOPICS}
    pairs = {tuple(sorted(random.sample(groups[random.choice([*TOPICS])], 2))) for _ in range(900)}
    labels = [(one, topic) for topic in KNOWN for one in groups[topic][:20]]
    write(folder / "nodes.csv", ("id", "text"), nodes)
    write(
        folder / "edges.csv", ("source", "target"), [(one, other) for one, other in sorted(pairs)]
    )
    write(folder / "labels.csv", ("id", "label"), labels)
    tables = [
        part
        for name in ("nodes", "edges", "labels")
        for part in (f"--{name}", folder / f"{name}.csv")
    ]
    said = done("init", folder / "store", *tables, "--key", "id", "--text", "text")
    assert "World: open." in said
    return folder


def test_keys_keep_their_zeros_and_a_number_is_another_key(archive: Path) -> None:
    with ng.Store.open(archive / "store") as store:
        assert store.graph(1).keys_of([7]) == ["0007"]
    said = refused("predict", archive / "store", "--nodes", "7")
    assert "'7'" in said
    assert "0007" in done("predict", archive / "store", "--nodes", "0007")


def test_a_batch_survives_unknown_keys(archive: Path, tmp_path: Path) -> None:
    asked = write(tmp_path / "asked.csv", ("id",), [("0299",), ("9999",), ("0001",)])
    out = tmp_path / "answers.parquet"
    done("predict", archive / "store", "--table", asked, "--key", "id", "--parquet", out)
    rows = pq.read_table(out).to_pylist()
    assert [row["node"] for row in rows] == ["0299", "9999", "0001"]
    assert [row["reason"] for row in rows] == ["prediction", "unknown_key", "own_label"]
    assert rows[1]["class"] is rows[1]["prediction"] is None
    assert rows[2]["class"] == rows[2]["label"] == "browser"
    every = ("9998", "9999")
    said = refused("predict", archive / "store", "--nodes", ",".join(every))
    assert all(one in said for one in every)


def test_three_spellings_of_a_class_are_one_class(archive: Path) -> None:
    new = ",".join(key(4 * EACH + place) for place in range(5))
    for name in ("Browser", "BROWSER"):
        said = refused("add", archive / "store", "--class", name, "--nodes", new, "--dry-run")
        assert "'browser'" in said
        assert "--force-name" in said
    said = refused("add", archive / "store", "--class", " browser", "--nodes", new, "--dry-run")
    assert "' browser'" in said


def test_one_confidence_on_all_four_surfaces(archive: Path) -> None:
    store, nodes = archive / "store", ["0299", "0030"]
    with ng.Store.open(store) as opened_store:
        python = opened_store.predict(nodes, version=1).to_rows()
    command = json.loads(
        call("predict", store, "--nodes", ",".join(nodes), "--version", "1", "--json").stdout
    )["predictions"]
    drawn = done("predict", store, "--nodes", ",".join(nodes), "--version", "1")
    with running(store) as life:
        http = life.ask("POST", "/v1/predict?version=1", {"keys": nodes})[1]["predictions"]
        with opened(life.port) as (page, _):
            card = page.locator("#suggestion")
            expect(card).to_contain_text("confidence", timeout=60_000)
            shown = card.inner_text()
            node = card.locator("a").first.inner_text()
        (suggested,) = life.ask("POST", "/v1/predict?version=1", {"keys": [node]})[1]["predictions"]
    assert python == command
    for one, other in zip(python, http, strict=True):
        assert one["class"] == other["class"]
        for name in ("confidence", "probability", "known"):
            assert one[name] == pytest.approx(other[name], abs=1e-9)
            assert likely(one[name]) in drawn
        assert one["confidence"] == pytest.approx(one["probability"] * one["known"])
    for name in ("confidence", "probability", "known"):
        assert f"{name} {likely(suggested[name])}" in shown


def test_a_renamed_class_changes_no_prediction(archive: Path) -> None:
    with ng.Store.open(archive / "store") as store:
        seen = store.preview(Change("rename", {"old": "game", "new": "games"}))
        right = store.version(1).measures["after"]["right"]
    assert seen.flipped == 0
    assert seen.before.right == seen.after.right
    assert sum(seen.after.right.values()) == sum(right.values())
