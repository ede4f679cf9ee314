"""The excerpt that comes with the package: small, whole, free to use, and made by its script."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from pyarrow import parquet

import nodegraft as ng
from studies import excerpt

MEGABYTE = 1_000_000
LICENCE = "WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved."
NAMES = "12\tnoun.feeling\tx\n13\tnoun.food\tx\n26\tnoun.state\tx\n"
NOUNS = """\
  1 This is the licence | of the database.
00000001 12 n 02 joy 0 delight 0 002 ! 00000002 n 0101 @ 00000004 n 0000 | great gladness
00000002 12 n 01 sorrow 0 001 ! 00000001 n 0101 | sadness
00000003 13 n 01 joy 1 002 @ 00000005 n 0000 @ 00000005 n 0000 | an ice cream; "a cold joy"
00000004 26 n 01 state 0 000 | the way something is
00000005 13 n 01 ice_cream 0 001 + 00000005 n 0101 | frozen dessert
"""


def part(name: str) -> Path:
    return excerpt.FOLDER / f"{name}.parquet"


def test_it_is_small_and_nothing_else_is_in_its_folder() -> None:
    sizes = {file.name: file.stat().st_size for file in excerpt.FOLDER.iterdir()}
    assert sorted(sizes) == ["LICENSE", "edges.parquet", "labels.parquet", "nodes.parquet"]
    assert sum(sizes.values()) < MEGABYTE


def test_it_carries_its_licence() -> None:
    text = (excerpt.FOLDER / "LICENSE").read_text()
    assert LICENCE in text
    assert "Permission to use, copy, modify and distribute" in text


def test_its_tables_fit_together_without_repair() -> None:
    tables = ng.read_tables(
        part("nodes"), part("edges"), text="description", edge_type="kind", directed=True
    )
    assert not tables.report.blocking
    graph = tables.graph
    assert (graph.num_nodes, graph.num_edges) == (9295, 10643)
    assert {"is-a", "part", "antonym"} <= set(graph.relations)
    labels = ng.read_labels(part("labels"), graph)
    assert sorted({*labels, excerpt.NEW}) == sorted(excerpt.CLASSES)
    assert excerpt.NEW not in labels
    assert 0.3 < sum(keys.size for keys in labels.values()) / graph.num_nodes < 0.35


def test_its_keys_can_be_typed() -> None:
    keys = parquet.read_table(part("nodes"))["key"].to_pylist()
    assert {"joy", "anger", "date", "date-2", "apple_pie"} <= set(keys)
    assert not [key for key in keys if set(key) & set(' ,;"$`\\*?')]


@pytest.fixture
def source(tmp_path: Path, write_xz: Callable[[Path, str, str], Path]) -> Path:
    write_xz(tmp_path / "data.noun.xz", NOUNS, "latin-1")
    (tmp_path / "lexnames.tsv").write_text(NAMES)
    return tmp_path


def test_synsets_are_named_by_their_first_word(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(excerpt, "LABELLED", 1.0)
    made = {name: table.to_pylist() for name, table in excerpt.tables(source).items()}
    assert [node["key"] for node in made["nodes"]] == ["ice_cream", "joy", "joy-2", "sorrow"]
    assert made["nodes"][2]["description"] == 'an ice cream; "a cold joy"'
    assert made["labels"] == [
        {"key": "ice_cream", "label": "food"},
        {"key": "joy-2", "label": "food"},
    ]
    assert made["edges"] == [
        {"source": "joy", "target": "sorrow", "kind": "antonym"},
        {"source": "joy-2", "target": "ice_cream", "kind": "is-a"},
        {"source": "sorrow", "target": "joy", "kind": "antonym"},
    ]


@pytest.mark.real_data
def test_its_script_makes_it_again(real_data: Path, tmp_path: Path) -> None:
    excerpt.write(real_data / "wordnet", tmp_path)
    for name in ("nodes", "edges", "labels"):
        # Rows, not bytes: a file says which version of Arrow wrote it.
        assert parquet.read_table(tmp_path / f"{name}.parquet") == parquet.read_table(part(name))
    assert (tmp_path / "LICENSE").read_bytes() == (excerpt.FOLDER / "LICENSE").read_bytes()


@pytest.mark.real_data
def test_a_third_of_every_known_class_is_labelled(real_data: Path) -> None:
    synsets = excerpt.read_nouns(real_data / "wordnet")
    sizes = Counter(synset.label for synset in synsets)
    labelled = Counter(parquet.read_table(part("labels"))["label"].to_pylist())
    assert sizes.keys() - labelled.keys() == {excerpt.NEW}
    assert sizes[excerpt.NEW] == 428
    assert all(abs(labelled[name] - sizes[name] / 3) < 1 for name in labelled)
