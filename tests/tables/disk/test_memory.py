"""A build within a limit of the operating system, far below what the same tables take in memory."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

NODES, EDGES = 60_000, 600_000
LIMIT = 60_000_000
"""Bytes beside those of the interpreter and its libraries."""

CHILD = f"""
import resource, sys
from pathlib import Path
import pyarrow as pa
from nodegraft.tables.disk.build import build_graph
from nodegraft.tables.read import read_tables

def status(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    (found,) = (int(line.split()[1]) * 1024 for line in lines if line.startswith(field))
    return found

pa.set_cpu_count(1)
pa.set_io_thread_count(1)
nodes, edges, out = sys.argv[2:]
# Whatever is started once is started.
read_tables(pa.parquet.read_table(nodes).slice(0, 5), features="x")
Path("/proc/self/clear_refs").write_text("5")
before = status("RssAnon"), status("VmHWM")
if sys.argv[1] == "build":
    resource.setrlimit(resource.RLIMIT_DATA, (status("VmData") + {LIMIT},) * 2)
    build_graph(nodes, edges, out, features="x", memory=16_000_000)
else:
    kept = read_tables(nodes, edges, features="x")
print(status("VmHWM") - before[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits anonymous memory")
def test_a_build_keeps_its_limit(tmp_path: Path) -> None:
    draws = np.random.default_rng(0)
    keys = pa.array([f"node {i:07}" for i in range(NODES)])
    lists = pa.FixedSizeListArray.from_arrays(draws.random(8 * NODES, dtype=np.float32), 8)
    ends = [keys.take(pa.array((draws.random(EDGES) ** 2 * NODES).astype(int))) for _ in "ab"]
    tables = {
        "nodes": pa.table({"key": keys, "x": lists}),
        "edges": pa.table({"source": ends[0], "target": ends[1]}),
    }
    for name, table in tables.items():
        pa.parquet.write_table(table, tmp_path / f"{name}.parquet", row_group_size=50_000)
    places = [str(tmp_path / name) for name in ("nodes.parquet", "edges.parquet", "graph")]
    quiet = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
    risen = {}
    for how in ("build", "read"):
        run = subprocess.run(
            [sys.executable, "-c", CHILD, how, *places],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "OMP_NUM_THREADS": "1", **quiet},
        )
        assert run.returncode == 0, run.stderr
        risen[how] = int(run.stdout)
    assert risen["build"] < LIMIT < risen["read"]
