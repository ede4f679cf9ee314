import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from nodegraft.base.errors import MissingFileError
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.lab import datasets
from nodegraft.lab.datasets.templates.dataset import DATA_VARIABLE, REGISTRY, Dataset, LoadedDataset
from nodegraft.streams.setting import Setting
from nodegraft.streams.split import ClassSplit

NAMES = REGISTRY.names()
DESIGNED_ON = ["amazon-clothing", "debian", "debian-all", "gentoo", "wordnet"]
HELD_OUT = ["coauthor-cs", "linux-sources", "metamath-theorems", "treebank-roles"]


@dataclass(kw_only=True)
class Digits(Dataset):
    """Every character of one file is a node."""

    scale: float = 1.0

    name: ClassVar[str] = "digits"
    folders: ClassVar[tuple[str, ...]] = ("one", "two")
    required_files: ClassVar[tuple[str, ...]] = ("digits.txt",)
    parsed: ClassVar[list[str]] = []

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        text = files["digits.txt"].read_text()
        self.parsed.append(text)
        values = np.array([[float(digit) * self.scale] for digit in text])
        graph = Graph([f"at {place}" for place in range(len(text))], values, [("at 0", "at 1")])
        labels = NodeLabels.from_numbers(np.array([int(digit) for digit in text]))
        setting = Setting(base=1, pseudo_novel=0, validation=0, novel=1, ways=1, shots=1)
        return LoadedDataset(self.name, graph, labels, setting, np.arange(len(text)), ("a note",))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "digits.txt").write_text("90712")
    Digits.parsed.clear()
    return tmp_path


def test_second_load_reads_the_cache(root: Path, tmp_path: Path) -> None:
    first = Digits().load(root, tmp_path / "cache")
    second = Digits().load(root, tmp_path / "cache")
    assert Digits.parsed == ["90712"]
    assert second.content_hash == first.content_hash
    assert (second.setting, second.notes) == (first.setting, first.notes)
    assert second.labels.classes == first.labels.classes


def test_other_files_or_options_are_parsed_again(root: Path, tmp_path: Path) -> None:
    first = Digits().load(root, tmp_path / "cache")
    scaled = Digits(scale=2.0).load(root, tmp_path / "cache")
    (root / "two" / "digits.txt").write_text("90713")
    edited = Digits().load(root, tmp_path / "cache")
    assert Digits.parsed == ["90712", "90712", "90713"]
    assert len({loaded.content_hash for loaded in (first, scaled, edited)}) == 3


def test_a_cache_that_cannot_be_written_costs_time_only(root: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("in the way")
    assert Digits().load(root, blocked / "cache").graph.num_nodes == 5
    assert Digits().load(root, blocked / "cache").graph.num_nodes == 5
    assert len(Digits.parsed) == 2


def test_a_damaged_cache_is_parsed_anew(root: Path, tmp_path: Path) -> None:
    first = Digits().load(root, tmp_path / "cache")
    (arrays,) = (tmp_path / "cache").glob("*/arrays.safetensors")
    arrays.write_bytes(arrays.read_bytes()[:-1])
    assert Digits().load(root, tmp_path / "cache").content_hash == first.content_hash
    assert len(Digits.parsed) == 2


def test_root_comes_from_the_environment(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATA_VARIABLE, str(root))
    assert Digits().locate() == {"digits.txt": root / "two" / "digits.txt"}


def test_registry_finds_a_dataset_in_every_file() -> None:
    files = {info.name for info in pkgutil.iter_modules(datasets.__path__) if not info.ispkg}
    found = {REGISTRY.get(name).__module__.rpartition(".")[2] for name in NAMES}
    assert found == files


@pytest.mark.parametrize("name", NAMES)
def test_every_dataset_introduces_itself(name: str) -> None:
    dataset = REGISTRY.get(name)
    assert dataset.summary
    assert dataset.citation
    assert "\n" not in dataset.summary


@pytest.mark.parametrize("name", [name for name in NAMES if REGISTRY.get(name).required_files])
def test_missing_files_are_named_with_the_places(name: str, tmp_path: Path) -> None:
    dataset = REGISTRY.get(name)()
    with pytest.raises(MissingFileError) as caught:
        dataset.load(tmp_path)
    for wanted in dataset.required_files:
        assert wanted in str(caught.value)
    for folder in dataset.folders:
        assert str(tmp_path / folder) in str(caught.value)


@pytest.mark.real_data
@pytest.mark.parametrize("name", [*DESIGNED_ON, *HELD_OUT])
def test_real_graphs_can_be_split_and_cached(name: str, real_data: Path) -> None:
    dataset: Callable[[], Dataset] = REGISTRY.get(name)
    loaded, again = dataset().load(real_data), dataset().load(real_data)
    assert again.content_hash == loaded.content_hash
    assert loaded.labels.classes == tuple(sorted(loaded.labels.classes))
    assert loaded.setting.classes == len(loaded.labels)
    for seed in range(3):
        ClassSplit.draw(loaded.labels, loaded.setting, seed, loaded.groups)
    assert any(note.startswith("Held out") for note in loaded.notes) == (name in HELD_OUT)
