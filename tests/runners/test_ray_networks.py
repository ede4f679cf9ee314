"""Two Ray nodes that share a cable and a folder, and no network with anybody else."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from performance.networks import connected_hosts
from performance.power_law import write_tables
from performance.ray_nodes import two_nodes

from nodegraft.graph.disk.blocks.operator_folder import OperatorFolder
from nodegraft.graph.edges.row_blocks import block_bounds
from nodegraft.tables.disk.build import build_graph
from nodegraft.tables.storage import load_graph
from tests.graph.blocks_of import same_bits
from tests.networks import or_skip
from tests.slow_suite import slow

NODES, COLUMNS = 20_000, 64
LAYERS = 2 * NODES * COLUMNS * 4
"""Bytes of both."""

LONGEST = 300.0


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A graph on disk, whose layers are to be made in some sixteen blocks."""
    tables = tmp_path / "tables"
    write_tables(tables, nodes=NODES, degree=10, columns=COLUMNS, classes=20, keys="text")
    build_graph(tables / "nodes", tables / "edges", tmp_path / "built", features="features")
    graph = load_graph(tmp_path / "built")
    bounds = block_bounds(graph._adjacency, graph._store.feature_matrix, 2 * LAYERS // 16)
    layers(tmp_path / "built").files(1, bounds)
    return tmp_path / "built"


def layers(graph: Path) -> OperatorFolder:
    kept = load_graph(graph).layer_folder()
    assert kept is not None
    return kept


def propagated(graph: Path, *options: str, within: Sequence[str] = ()) -> str:
    """By the command that a user types; what it says."""
    command = [sys.executable, "-c", "from nodegraft.cli.entry import main; main()", "propagate"]
    run = subprocess.run(
        [*within, *command, str(graph), *options],
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@slow
def test_one_process_two_and_two_hosts_make_the_same_bits(built: Path, tmp_path: Path) -> None:
    two, apart = tmp_path / "two", tmp_path / "apart"
    shutil.copytree(built, two)
    shutil.copytree(built, apart)
    with (
        or_skip(connected_hosts()) as (first, second),
        two_nodes(tmp_path, first, second) as (address, _),
    ):
        before = second.sent()
        said = propagated(apart, "--ray", address, within=first.within)
        sent = second.sent() - before
    propagated(built)
    propagated(two, "--workers", "2")
    blocks = layers(built).files(1, []).num_blocks
    assert blocks > 10
    assert f"{2 * blocks} blocks computed" in said
    for power in (1, 2):
        truth = layers(built).layer(power)
        assert same_bits(layers(two).layer(power), truth)
        assert same_bits(layers(apart).layer(power), truth)
    # Rows are written to the folder: no block comes by the cable.
    assert sent < LAYERS / 8
