from pathlib import Path

import nodegraft as ng
from tests.cli.test_commands import invoke
from tests.tables.disk.tables import write_tables


def test_a_graph_is_built_told_of_and_never_overwritten(tmp_path: Path) -> None:
    tables, place = [str(table) for table in write_tables(tmp_path, "text")], tmp_path / "graph"
    command = ["build", *tables, "--out", str(place), "--text", "text", "--type", "kind"]
    done = invoke(*command, "--memory", "1")
    assert done.exit_code == 0, done.output
    assert "300  nodes" in done.output
    read = ng.read_graph(*tables, text="text", edge_type="kind")
    assert ng.load_graph(place).content_hash == read.content_hash
    again = invoke(*command)
    assert again.exit_code == 2
    assert "already contains a graph: choose a new folder" in again.output
