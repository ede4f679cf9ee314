"""Time and memory of building a graph from Parquet, on disk and in memory, against bare engines.

    python -m performance.build                       # 100,000 nodes, both kinds of keys
    python -m performance.build --nodes 1000000 --keys text --memory 500

``bare`` reads both tables with pyarrow, looks up the row of every edge's nodes (``index_in``) and
sorts the edges in both directions with NumPy. It makes no graph: duplicate edges stay, and nothing
is checked or written. ``build`` writes a graph to disk, ``read`` makes one in memory. Each runs in
a new process; the memory is the peak of anonymous memory above that after all imports.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from performance.anonymous_peak import AnonymousPeak
from performance.power_law import write_tables

from nodegraft.base.measure import Measurement


def measure(work: Callable[[], object]) -> tuple[float, int]:
    """Return the seconds and the growth of anonymous memory of a call."""
    with Measurement() as time, AnonymousPeak() as memory:
        work()
    return time.seconds, memory.bytes


def bare(tables: Path) -> None:
    """Do the least that pyarrow and NumPy must do."""
    import numpy as np
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    nodes, edges = (pq.read_table(tables / name) for name in ("nodes", "edges"))
    known = nodes["key"].combine_chunks()
    source, target = (
        pc.index_in(edges[name], value_set=known).to_numpy() for name in ("source", "target")
    )
    _ = np.argsort(np.concatenate((source, target)), kind="stable")


def run_variant(name: str, tables: Path, memory: int) -> None:
    """Run a variant in this process; print its seconds and bytes."""
    import pyarrow.parquet as pq

    from nodegraft.tables.disk.build import build_graph
    from nodegraft.tables.read import read_tables

    paths = tables / "nodes", tables / "edges"
    variants: dict[str, Callable[[], object]] = {
        "bare": lambda: bare(tables),
        "build": lambda: build_graph(*paths, tables / "graph", memory=memory),
        "read": lambda: read_tables(*map(pq.read_table, paths)),
    }
    print(*measure(variants[name]))


def run_rounds(tables: Path, memory: int) -> dict[str, list[tuple[float, float]]]:
    """Run all variants twice, in turns; return the seconds and bytes of each."""
    costs: dict[str, list[tuple[float, float]]] = {"bare": [], "build": [], "read": []}
    for name in 2 * list(costs):
        shutil.rmtree(tables / "graph", ignore_errors=True)
        command = [sys.executable, "-m", "performance.build", "--memory", str(memory)]
        run = subprocess.run(  # noqa: S603
            [*command, "--variant", name, str(tables)], capture_output=True, text=True, check=True
        )
        seconds, peak = map(float, run.stdout.split())
        costs[name].append((seconds, peak))
    return costs


def main() -> None:
    """Print a row for each variant."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--degree", type=float, default=20.0)
    parser.add_argument("--columns", type=int, default=32)
    parser.add_argument("--keys", choices=["integer", "text"], action="append")
    parser.add_argument("--memory", type=int, default=1000, help="memory limit of the build, in MB")
    parser.add_argument("--variant", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.variant:
        run_variant(options.variant[0], Path(options.variant[1]), 1_000_000 * options.memory)
        return
    sizes = {name: getattr(options, name) for name in ("nodes", "degree", "columns")}
    for keys in options.keys or ["integer", "text"]:
        with tempfile.TemporaryDirectory() as folder:
            write_tables(Path(folder), **sizes, classes=40, keys=keys)
            print(f"{options.nodes:,} nodes, {options.nodes * options.degree / 2:,.0f} edges, "
                  f"{options.columns} features, {keys} keys")  # fmt: skip
            rounds = run_rounds(Path(folder), options.memory)
            for name, costs in rounds.items():
                # Compared within a round, because other load on the machine slows down both.
                pairs = zip(costs, rounds["bare"], strict=True)
                ratio = min(cost[0] / bare_cost[0] for cost, bare_cost in pairs)
                print(f"{name:6} {min(costs)[0]:8.2f} s, ratio {ratio:5.2f}, "
                      f"{max(peak for _, peak in costs) / 1e6:8,.0f} MB")  # fmt: skip


if __name__ == "__main__":
    main()
