"""Formats of tables, and places they come from."""

import gzip
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet
import pytest

from nodegraft.base.errors import DataError, ParameterError
from nodegraft.tables.disk.build import build_graph
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.files import TableFiles, matching
from nodegraft.tables.labels import read_labels
from nodegraft.tables.read import read_graph, read_tables

COMMAS = "key,price\na,1.5\nb,2\nc,3\n"
LINES = '{"key": "a", "price": 1.5}\n{"key": "b", "price": 2}\n{"key": "c", "price": 3}\n'


def write(folder: Path, name: str, text: str) -> Path:
    place = folder / name
    place.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return place


def expect(source: Any, **options: Any) -> None:
    graph = read_graph(source, features="price", **options)
    assert graph.keys_of(graph.rows) == ["a", "b", "c"]
    assert graph.features([0])[0, 0] < 0 < graph.features([2])[0, 0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nodes.csv", COMMAS),
        ("nodes.csv.gz", COMMAS),
        ("semicolons.csv", COMMAS.replace(",", ";")),
        ("tabs.csv", COMMAS.replace(",", "\t")),
        ("quoted.csv", COMMAS.replace(",", ";").replace("key;price", '"key";price;"a,b"')),
        ("nodes.jsonl", LINES),
        ("nodes.ndjson", LINES),
        ("nodes.jsonl.gz", LINES),
    ],
)
def test_files_of_all_formats_are_read(name: str, text: str, tmp_path: Path) -> None:
    text = text.replace('price;"a,b"\na;1.5\nb;2\nc;3', 'price;"a,b"\na;1.5;0\nb;2;0\nc;3;0')
    place = write(tmp_path, name, text)
    expect(place)
    expect(f"file://{place}")


def test_a_delimiter_may_be_given(tmp_path: Path) -> None:
    place = write(tmp_path, "nodes.csv", COMMAS.replace(",", "#"))
    expect(place, delimiter="#")
    with pytest.raises(DataError, match=r"has no column 'key'.*columns are key#price"):
        read_graph(place, features="price")
    with pytest.raises(ParameterError, match="one character"):
        read_graph(place, features="price", delimiter="##")


def test_parquet_comes_in_parts(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    parts: dict[str, dict[str, Any]] = {
        "1": {"key": ["a"], "price": [1.5]},
        "2": {"key": ["b", "c"]},
    }
    for name, rows in parts.items():
        table = pa.table({"price": [2.0, 3.0], **rows})
        pa.parquet.write_table(table, tmp_path / "parts" / f"{name}.parquet")
    expect(tmp_path / "parts")
    expect(tmp_path / "parts" / "*.parquet")
    expect(str(tmp_path / "parts" / "[12].parquet"))
    built = build_graph(str(tmp_path / "parts/*.parquet"), None, tmp_path / "g", features="price")
    assert built.graph.num_nodes == 3
    write(tmp_path, "1.csv", COMMAS)
    write(tmp_path, "2.csv", COMMAS)
    with pytest.raises(DataError, match="only Parquet comes in parts"):
        TableFiles.of(tmp_path / "*.csv")


def test_any_url_is_read(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe("/tables/nodes.csv", COMMAS.encode())
    try:
        expect("memory://tables/nodes.csv")
        pa.parquet.write_table(
            pa.table({"key": ["a", "b", "c"], "price": [1.5, 2.0, 3.0]}), tmp_path / "n.parquet"
        )
        memory.pipe("/tables/parts/n.parquet", (tmp_path / "n.parquet").read_bytes())
        expect("memory://tables/parts")
        built = build_graph("memory://tables/parts", None, tmp_path / "g", features="price")
        assert built.graph.num_nodes == 3
        with pytest.raises(DataError, match=r"There is no file memory://tables/none\.csv"):
            read_graph("memory://tables/none.csv")
        with pytest.raises(DataError, match=r"nowhere:// is no file system that fsspec knows"):
            read_graph("nowhere://tables/nodes.csv")
    finally:
        memory.rm("/tables", recursive=True)


def test_globs_name_columns_but_neither_keys_nor_labels() -> None:
    nodes = pa.table({"e_key": ["a", "b"], "e1": [1, 2], "e2": [3, 5], "ear": ["x", "y"]})
    graph = read_tables(nodes, key="e_key", label="ear", features="e*").graph
    assert isinstance(graph.recipe, FeatureRecipe)
    assert graph.recipe.feature_names == ["e1", "e2"]
    with pytest.raises(DataError, match=r"has no column 'z\*'"):
        read_tables(nodes, key="e_key", features="z*")
    assert matching(["e?", "e1"], nodes.column_names) == ["e1", "e2"]


def test_labels_from_a_column_that_is_a_feature_are_refused(tmp_path: Path) -> None:
    nodes = pa.table({"key": ["a", "b"], "e1": [1, 2], "ear": [3, 5]})
    pa.parquet.write_table(nodes, tmp_path / "nodes.parquet")
    built = build_graph(tmp_path / "nodes.parquet", None, tmp_path / "g", features="e*")
    with pytest.raises(DataError, match=r"'ear' of .* is among the features of the graph"):
        read_labels(nodes, built.graph, label="ear")
    renamed = nodes.rename_columns(["key", "e1", "class"])
    assert len(read_labels(renamed, built.graph, label="class")) == 2


def test_globs_of_text_keep_the_letters_of_a_csv_file(tmp_path: Path) -> None:
    place = write(tmp_path, "nodes.csv", "key,code_a,code_b\na,007,1\nb,7,1\n")
    graph = read_graph(place, categories="code_*")
    assert isinstance(graph.recipe, FeatureRecipe)
    assert graph.recipe.feature_names == ["code_a=007", "code_a=7", "code_b=1"]


def test_parts_with_other_columns_are_refused(tmp_path: Path) -> None:
    first, other = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pa.parquet.write_table(pa.table({"key": [1, 2, 7], "price": [1.0, 2.0, 3.0]}), first)
    texts: dict[str, Any] = {"key": ["007", "008"], "price": [1.0, 2.0]}
    for columns, message in (
        (texts, "'key' is string, not int64"),
        ({"key": [8, 9]}, "'price' is missing, not double"),
        ({"price": [1.0], "key": [8]}, "their order differs"),
    ):
        pa.parquet.write_table(pa.table(columns), other)
        for source in (tmp_path, str(tmp_path / "*.parquet")):
            with pytest.raises(DataError, match=rf"b\.parquet has other .*a\.parquet: {message}"):
                read_graph(source, features="price")
    other.write_bytes(b"no parquet")
    with pytest.raises(DataError, match=r"b\.parquet cannot be read"):
        read_graph(tmp_path, features="price")


def test_parts_in_folders_below_are_not_ignored(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name, key in (("a.parquet", "a"), ("below/b.parquet", "b"), ("c.parquet", "c")):
        table = pa.table({"key": [key], "price": [float(ord(key))]})
        pa.parquet.write_table(table, tmp_path / name)
    with pytest.raises(DataError, match=r"1 of the 3 \.parquet files .*/\*\*/\*\.parquet"):
        read_graph(tmp_path, features="price")
    graph = read_graph(f"{tmp_path}/**/*.parquet", features="price")
    assert sorted(map(str, graph.keys_of(graph.rows))) == ["a", "b", "c"]


def test_text_of_json_lines_that_looks_like_a_date_stays_text(tmp_path: Path) -> None:
    rows = ['{"key": "2026-01-01", "label": "2026-01-01"}', '{"key": "2026-01-02", "label": "x"}']
    place = write(tmp_path, "nodes.jsonl", "\n".join([*rows, ""]))
    labels = write(tmp_path, "labels.jsonl", rows[0] + "\n")
    tables = read_tables(place, None, labels, categories="label")
    assert isinstance(tables.graph.recipe, FeatureRecipe)
    assert tables.graph.recipe.feature_names == ["label=2026-01-01", "label=x"]
    assert tables.labels is not None
    assert {name: keys.tolist() for name, keys in tables.labels.items()} == {
        "2026-01-01": ["2026-01-01"]
    }


def test_lines_of_json_may_be_long(tmp_path: Path) -> None:
    lines = [f'{{"key": "{key}", "about": "{"word " * 600_000}"}}' for key in "ab"]
    graph = read_graph(
        write(tmp_path, "nodes.jsonl", "\n".join(lines)), text="about", min_documents=1
    )
    assert graph.num_nodes == 2
