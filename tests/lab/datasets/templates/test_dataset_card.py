"""Dataset cards name the raw files with their checksums, the licence and the sizes."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

from nodegraft.cli.app import app
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.statistics import describe
from nodegraft.lab.datasets.templates.dataset import Dataset, LoadedDataset, setting_for
from nodegraft.lab.datasets.templates.dataset_card import UNKNOWN_LICENCE, dataset_card


@dataclass(kw_only=True)
class Fruit(Dataset):
    name: ClassVar[str] = "fruit"
    summary: ClassVar[str] = "fruit | vegetables"
    citation: ClassVar[str] = "Somebody 2020, Fruit, https://example.org/fruit"
    licence: ClassVar[str] = "CC-BY-4.0"
    required_files: ClassVar[tuple[str, ...]] = ("raw/fruit.csv",)

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        names = files["raw/fruit.csv"].read_text().split()
        graph = Graph(names, np.eye(len(names)), [(names[0], names[1])])
        labels = NodeLabels({"red": [0, 1], "green": [2]})
        return LoadedDataset(self.name, graph, labels, setting_for(10), notes=("Small.",))


def card_of(dataset: type[Dataset], place: Path) -> tuple[str, dict[str, Any]]:
    files = dataset().locate(place)
    loaded = dataset().parse(files)
    card = dataset_card(dataset, loaded, describe(loaded.graph, loaded.labels), files)
    assert list(card) == ["README.md", "croissant.json"]
    return card["README.md"].decode(), json.loads(card["croissant.json"])


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "fruit.csv").write_text("apple cherry pear")
    return tmp_path


def test_a_card_says_what_a_dataset_is(place: Path) -> None:
    readme, croissant = card_of(Fruit, place)
    for line in (
        "| licence | CC-BY-4.0 |",
        "| nodes | 3 (1 without an edge) |",
        "| classes | 2 (nodes in a class: 1 to 2, median 1) |",
        "| raw/fruit.csv | 17 |",
        "- Small.",
    ):
        assert line in readme.splitlines()
    assert croissant["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert (croissant["name"], croissant["license"]) == ("fruit", "CC-BY-4.0")
    assert croissant["url"] == "https://example.org/fruit"
    (file,) = croissant["distribution"]
    assert file["sha256"] == hashlib.sha256(b"apple cherry pear").hexdigest()
    assert (file["contentUrl"], file["contentSize"]) == ("raw/fruit.csv", "17 B")
    assert file["encodingFormat"] == "text/csv"


def test_an_unknown_licence_is_said(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fruit, "licence", "")
    readme, croissant = card_of(Fruit, place)
    assert f"| licence | {UNKNOWN_LICENCE} |" in readme
    assert croissant["license"] == UNKNOWN_LICENCE


def test_the_command_fills_a_new_folder_only(tmp_path: Path) -> None:
    command = ["lab", "info", "synthetic", "--card", str(tmp_path / "card")]
    assert CliRunner().invoke(app, command).exit_code == 0
    assert {path.name for path in (tmp_path / "card").iterdir()} == {"README.md", "croissant.json"}
    again = CliRunner().invoke(app, command)
    assert again.exit_code != 0
    assert "is not empty" in again.output
