"""Tables that are queries of real databases: SQLite, PostgreSQL and DuckDB."""

import threading
from collections.abc import Iterable, Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from sqlalchemy import create_engine, inspect, text
from typer.testing import CliRunner

import nodegraft as ng
from nodegraft.base.errors import DataError, MissingExtraError
from nodegraft.cli.app import app
from nodegraft.tables.disk.build import build_graph
from nodegraft.tables.labels import read_labels
from nodegraft.tables.sql.place import DatabasePlace, is_database
from nodegraft.tables.sql.read import read_query
from nodegraft.tables.sql.write import write_parts, write_table
from tests.service.served import make_of_tables
from tests.store.postgresql import running

KINDS = ("hat", "shoe")
ITEMS = pa.table(
    {
        "id": [f"{kind}{n}" for kind in KINDS for n in range(12)],
        "title": [f"{kind} of {kind}s" for kind in KINDS for _ in range(12)],
        "price": [n + 0.5 for _ in KINDS for n in range(12)],
        "kind": [kind if n < 10 else None for kind in KINDS for n in range(12)],
    }
)
LINKS = pa.table(
    {
        "a": [f"{kind}{n}" for kind in KINDS for n in range(12)],
        "b": [f"{kind}{(n + 1) % 12}" for kind in KINDS for n in range(12)],
    }
)
NODES, EDGES = (
    "SELECT id AS key, title, price FROM items",
    "SELECT a AS source, b AS target FROM links",
)
LABELS = "SELECT id AS key, kind AS label FROM items WHERE kind IS NOT NULL"


@pytest.fixture(params=["sqlite", "postgresql", "duckdb"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with the tables ``items`` and ``links``."""
    if request.param == "postgresql":
        server = request.getfixturevalue("server")
        place = server.url(server.new_database())
    else:
        place = f"{request.param}:///{tmp_path}/shop.{request.param}"
    write_table(ITEMS, f"{place}#items")
    write_table(LINKS, f"{place}#links")
    return str(place)


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with running() as server:
        yield server


def execute(url: str, statement: str) -> None:
    if url.startswith("duckdb"):
        with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
            connection.execute(statement)
        return
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def call(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "80"})


pytestmark = pytest.mark.xdist_group("databases")


def test_a_graph_of_queries_is_that_of_the_tables(url: str) -> None:
    options: dict[str, Any] = {"text": "title", "features": "price", "min_documents": 1}
    places = [f"{url}#{query}" for query in (NODES, EDGES, LABELS)]
    found = ng.read_tables(*places, **options)
    wanted = ng.read_tables(
        ITEMS.select(["id", "title", "price"]).rename_columns(["key", "title", "price"]),
        LINKS.rename_columns(["source", "target"]),
        **options,
    )
    assert found.graph.content_hash == wanted.graph.content_hash
    assert found.labels is not None
    assert {name: len(keys) for name, keys in found.labels.items()} == {"hat": 10, "shoe": 10}
    assert read_labels(places[2], found.graph) == found.labels
    grown = ng.grow_graph(found.graph, f"{url}#SELECT 'new' AS key, 'a hat' AS title, 2.5 AS price")
    assert grown.num_nodes == 25


def test_the_command_line_reads_and_writes_a_database(url: str, tmp_path: Path) -> None:
    tables = [f"--nodes={url}#{NODES}", f"--edges={url}#{EDGES}", f"--labels={url}#{LABELS}"]
    store = str(tmp_path / "store")
    created = call("init", store, *tables, "--text", "title", "--min-documents", "1")
    assert created.exit_code == 0, created.output
    execute(url, "INSERT INTO items (id, title, price) VALUES ('hat99', 'hat of hats', 9)")
    grown = call("grow", store, f"--nodes={url}#{NODES} WHERE id = 'hat99'", "--promote")
    assert grown.exit_code == 0, grown.output
    written = call("predict", store, "--all", "--top", "2", "--to", f"{url}#answers")
    assert written.exit_code == 0, written.output
    assert written.stdout.startswith("table answers: predictions for 25 nodes")
    query = f"{url}#SELECT node, class, confidence FROM answers ORDER BY node"
    with ng.Store.open(store) as opened:
        wanted = opened.predict().to_arrow().select(["node", "class", "confidence"])
    assert read_query(query).to_pylist() == wanted.sort_by("node").to_pylist()
    asked = f"--table={url}#SELECT node AS key FROM answers WHERE node LIKE 'hat%'"
    again = call("predict", store, asked, "--to", f"{url}#answers")
    assert again.exit_code == 2
    assert "already has a table 'answers'" in again.stderr
    assert "--replace" in again.stderr
    assert call("predict", store, asked, "--to", f"{url}#answers", "--replace").exit_code == 0
    assert read_query(query).num_rows == 13


def test_a_table_is_written_whole_or_not_at_all(url: str) -> None:
    write_table({"a": [1]}, f"{url}#answers")

    def parts() -> Iterable[Any]:
        yield pa.table({"a": [2]})
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        write_parts(parts(), f"{url}#answers", replace=True)
    assert read_query(f"{url}#SELECT * FROM answers").to_pylist() == [{"a": 1}]


def test_values_of_every_type_are_written(url: str) -> None:
    columns = {
        "text": ["it's", None],
        "number": [1.5, float(2**60)],
        "whole": [2**60, None],
        "flag": [True, None],
        "set": [["a", "b"], []],
        "odd:name %": ["x", "y"],
        "none": pa.nulls(2),
        "dictionary": pa.array(["u", "v"]).dictionary_encode(),
    }
    write_table(pa.table(columns), f"{url}#values_of_types")
    (first, second) = read_query(f"{url}#SELECT * FROM values_of_types").to_pylist()
    assert list(first.values())[:3] == ["it's", 1.5, 2**60]
    assert bool(first["flag"])
    assert list(first.values())[4:] == ['["a", "b"]', "x", None, "u"]
    assert list(second.values())[1:4] == [float(2**60), None, None]
    empty = pa.schema([("key", pa.string())]).empty_table()
    write_table(empty, f"{url}#empty")
    assert read_query(f"{url}#SELECT * FROM empty").column_names == ["key"]


def test_cells_that_drivers_refuse_become_text(url: str) -> None:
    cells = {
        "price": Decimal("1.50"),
        "day": date(2026, 1, 2),
        "hour": time(9, 30),
        "length": timedelta(hours=2),
    }
    table = pa.table({name: [cell, None] for name, cell in cells.items()})
    write_table(table.append_column("list", [[[Decimal("1.50"), None], None]]), f"{url}#cells")
    first, second = read_query(f"{url}#SELECT * FROM cells").to_pylist()
    assert first["list"] == '["1.50", null]'
    if url.startswith("duckdb"):
        first["length"] = timedelta(microseconds=first["length"].nanoseconds / 1000)
    assert {name: str(first[name]) for name in cells} == {name: str(cells[name]) for name in cells}
    assert [second[name] for name in cells] == [None] * 4


def test_numbers_that_are_too_large_are_refused() -> None:
    with pytest.raises(DataError, match="too large"):
        write_table(pa.table({"a": pa.array([2**63], pa.uint64())}), "sqlite://#answers")


def test_errors_of_the_rows_are_not_those_of_the_database(url: str) -> None:
    def parts() -> Iterable[Any]:
        yield pa.table({"a": [2]})
        raise ValueError("stopped")

    with pytest.raises(ValueError, match=r"^stopped$"):
        write_parts(parts(), f"{url}#answers")


def test_a_second_writer_waits(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/shop.db"
    errors = list[Exception]()

    def write() -> None:
        try:
            write_table({"a": [1]}, f"{url}#second")
        except DataError as error:
            errors.append(error)

    writer = threading.Thread(target=write)

    def parts() -> Iterable[Any]:
        yield pa.table({"a": [2]})
        writer.start()
        writer.join(0.5)
        yield pa.table({"a": [3]})

    write_parts(parts(), f"{url}#first")
    writer.join()
    assert not errors
    assert read_query(f"{url}#SELECT * FROM first, second").num_rows == 2


def test_tables_of_a_store_are_not_replaced(tmp_path: Path) -> None:
    make_of_tables(tmp_path / "store")
    url = f"sqlite:///{tmp_path}/store/store.db"
    engine = create_engine(url)
    names = inspect(engine).get_table_names()
    engine.dispose()  # Python 3.13 warns of connections that stay open.
    for name in names:
        with pytest.raises(DataError, match="belongs to a nodegraft store"):
            write_table({"a": [1]}, f"{url}#{name.upper()}", replace=True)
    write_table({"a": [1]}, f"{url}#answers")
    write_table({"a": [2]}, f"{url}#answers", replace=True)


@pytest.mark.parametrize("name", ["VERSIONS", "main.versions", "s.versions", "s.main.versions"])
def test_duckdb_does_not_replace_tables_of_a_store(name: str, tmp_path: Path) -> None:
    # With its extension for SQLite, DuckDB shows the tables of a store like its own.
    url = f"duckdb:///{tmp_path}/s.duckdb"
    for table in ("versions", "promotions"):
        write_table({"a": [1]}, f"{url}#{table}")
    with pytest.raises(DataError, match="belongs to a nodegraft store"):
        write_table({"a": [2]}, f"{url}#{name}", replace=True)
    assert read_query(f"{url}#SELECT * FROM versions").to_pylist() == [{"a": 1}]


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_file_with_a_number_sign_is_written(scheme: str, tmp_path: Path) -> None:
    write_table({"a": [1]}, f"{scheme}:///{tmp_path}/a#b.db#answers")
    assert [file.name for file in tmp_path.iterdir()] == ["a#b.db"]


def test_a_query_changes_nothing(url: str) -> None:
    for statement in ("DELETE FROM items", "DROP TABLE items"):
        with pytest.raises(DataError):
            read_query(f"{url}#{statement}")
    assert read_query(f"{url}#SELECT * FROM items").num_rows == len(ITEMS)


def test_wrong_places_say_what_to_do(url: str, tmp_path: Path) -> None:
    for query, reason in {
        "SELECT x FROM nowhere": "refused 'SELECT x FROM nowhere': .*nowhere",
        "": "# and SELECT … must follow its URL",
    }.items():
        with pytest.raises(DataError, match=reason):
            ng.read_graph(f"{url}#{query}")
    with pytest.raises(DataError, match="the query of nodes has no column 'key'"):
        ng.read_graph(f"{url}#SELECT id FROM items")
    with pytest.raises(DataError, match="# and TABLE must follow"):
        write_table({"a": [1]}, url)
    for file in ("-", "out.csv", "s3://shop/out.csv"):
        with pytest.raises(DataError, match="for files use --csv"):
            write_table({"a": [1]}, file)
    built = build_graph(f"{url}#{NODES}", f"{url}#{EDGES}", tmp_path / "g", features="price")
    assert built.graph.num_nodes == 24


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_missing_file_is_not_created(scheme: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nothing\.db"):
        read_query(f"{scheme}:///{tmp_path}/nothing.db#SELECT 1 AS key")
    assert not list(tmp_path.iterdir())


def test_passwords_are_not_shown() -> None:
    place = "postgresql+psycopg://anna:se%40cret@127.0.0.1:1/shop#SELECT 1"
    assert "cret" not in repr(DatabasePlace.of(place))
    with pytest.raises(DataError) as refused:
        read_query(place)
    assert "cret" not in str(refused.value)
    leaky = DatabasePlace.of(place).failed(ValueError("password se%40cret and se@cret"))
    assert "cret" not in str(leaky)


@pytest.mark.parametrize("password", ["se#cret", "s#e/cret", "s#e@cret", "s@#cret"])
def test_passwords_with_a_number_sign_are_not_shown(password: str) -> None:
    url = f"postgresql+psycopg://anna:{password}@127.0.0.1:1/shop"
    for place in (f"{url}#db", f"{url}#", url):
        with pytest.raises(DataError) as refused:
            write_table({"a": [1]}, place)
        assert "cret" not in str(refused.value)
        with pytest.raises(DataError) as refused:
            read_query(place)
        assert "cret" not in str(refused.value)


def test_values_of_several_types_in_a_column_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"Column 'key' .*CAST\(key AS TEXT\)"):
        read_query("sqlite://#SELECT 1 AS key UNION ALL SELECT 'a'")
    (tmp_path / "a.csv").write_text("key\n007\n")
    files = read_query(f"duckdb://#FROM read_csv('{tmp_path}/*.csv', all_varchar=true)")
    assert files.to_pylist() == [{"key": "007"}]


def test_files_are_no_databases() -> None:
    for source in ("nodes.csv", "a#b.csv", "s3://a/b#c.parquet", "memory://a", "tar::s3://a", None):
        assert not is_database(source)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for package, source in (("duckdb", "duckdb://#FROM a"), ("sqlalchemy", "sqlite://#SELECT 1")):
        with monkeypatch.context() as patch:
            patch.setitem(__import__("sys").modules, package, None)
            with pytest.raises(MissingExtraError, match=r"nodegraft\[sql\]"):
                read_query(source)
