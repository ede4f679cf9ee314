"""Parquet to a graph on disk, and to one in memory, against bare engines, in one run.

    python -m performance.build                       # 100,000 nodes, both kinds of keys
    python -m performance.build --nodes 1000000 --keys text --memory 500

Bare is pyarrow reading both tables and finding the row of every end (``index_in``), and NumPy
sorting the ends of all edges, both ways. It makes no graph: repeats stay, nothing is checked or
written. Each side is a process of its own; the memory is what it holds beside files at its peak,
above what it held when all was imported.
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


def measured(work: Callable[[], object]) -> tuple[float, int]:
    """Seconds, and the peak of anonymous memory above where it started."""
    with Measurement() as time, AnonymousPeak() as memory:
        work()
    return time.seconds, memory.bytes


def bare(tables: Path) -> None:
    """What pyarrow and NumPy need at least."""
    import numpy as np
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    nodes, edges = (pq.read_table(tables / name) for name in ("nodes", "edges"))
    known = nodes["key"].combine_chunks()
    first, second = (
        pc.index_in(edges[name], value_set=known).to_numpy() for name in ("source", "target")
    )
    _ = np.argsort(np.concatenate((first, second)), kind="stable")


def side(name: str, tables: Path, memory: int) -> None:
    """Run one side in this process and say what it took."""
    import pyarrow.parquet as pq

    from nodegraft.tables.disk.build import build_graph
    from nodegraft.tables.read import read_tables

    places = tables / "nodes", tables / "edges"
    sides: dict[str, Callable[[], object]] = {
        "bare": lambda: bare(tables),
        "build": lambda: build_graph(*places, tables / "graph", memory=memory),
        "read": lambda: read_tables(*map(pq.read_table, places)),
    }
    print(*measured(sides[name]))


def rounds(tables: Path, memory: int) -> dict[str, list[tuple[float, float]]]:
    """Seconds and bytes of each side, which take turns."""
    found: dict[str, list[tuple[float, float]]] = {"bare": [], "build": [], "read": []}
    for name in 2 * list(found):
        shutil.rmtree(tables / "graph", ignore_errors=True)
        command = [sys.executable, "-m", "performance.build", "--memory", str(memory)]
        run = subprocess.run(  # noqa: S603
            [*command, "--side", name, str(tables)], capture_output=True, text=True, check=True
        )
        seconds, peak = map(float, run.stdout.split())
        found[name].append((seconds, peak))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--degree", type=float, default=20.0)
    parser.add_argument("--columns", type=int, default=32)
    parser.add_argument("--keys", choices=["integer", "text"], action="append")
    parser.add_argument("--memory", type=int, default=1000, help="of the build, in MB")
    parser.add_argument("--side", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        side(options.side[0], Path(options.side[1]), 1_000_000 * options.memory)
        return
    sizes = {name: getattr(options, name) for name in ("nodes", "degree", "columns")}
    for keys in options.keys or ["integer", "text"]:
        with tempfile.TemporaryDirectory() as folder:
            write_tables(Path(folder), **sizes, classes=40, keys=keys)
            print(f"{options.nodes:,} nodes, {options.nodes * options.degree / 2:,.0f} edges, "
                  f"{options.columns} features, {keys} keys")  # fmt: skip
            found = rounds(Path(folder), options.memory)
            for name, times in found.items():
                # Pairs of one round: a noisy neighbour hits both.
                ratio = min(
                    one[0] / plain[0] for one, plain in zip(times, found["bare"], strict=True)
                )
                print(f"{name:6} {min(times)[0]:8.2f} s, ratio {ratio:5.2f}, "
                      f"{max(peak for _, peak in times) / 1e6:8,.0f} MB")  # fmt: skip


if __name__ == "__main__":
    main()
