import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

from nodegraft.base.errors import NodegraftError
from nodegraft.graph.disk.blocks.encode import encode, propagate
from nodegraft.graph.disk.blocks.layer_rows import DONE, JOURNAL
from nodegraft.graph.disk.blocks.layer_work import LayerWork
from nodegraft.runners.block_processes import BlockProcesses
from tests.graph.blocks_of import SMALL, network_of, rows_in, same_bits, wide_graph

NODES = 4000
DRIVER = f"""
import sys
from pathlib import Path
from nodegraft.graph.disk.blocks.encode import propagate
from nodegraft.runners.block_processes import BlockProcesses
from tests.graph.blocks_of import SMALL, wide_graph

if __name__ == "__main__":
    with BlockProcesses(2) as processes:
        graph = wide_graph(nodes={NODES})
        propagate(graph, 2, processes, folder=Path(sys.argv[1]), block_bytes=SMALL)
"""


class Killed(BlockProcesses):
    """One of its workers is killed in the middle of the first layer."""

    killed = 0

    def run(self, work: LayerWork) -> Iterator[int]:
        for done in super().run(work):
            if not self.killed and done == 2:
                self.killed = self.processes()[0]
                os.kill(self.killed, signal.SIGKILL)
            yield done


def test_processes_write_the_bits_of_one_though_one_of_them_is_killed(tmp_path: Path) -> None:
    processes = Killed(2)
    with processes:
        for kind in ("float32", "float16", "sparse"):
            graph, place = wide_graph(kind), tmp_path / f"{kind}-2"
            one = propagate(graph, 2, folder=tmp_path / kind, block_bytes=2 * SMALL)
            two = propagate(graph, 2, processes, folder=place, block_bytes=SMALL)
            for power in (1, 2):
                assert same_bits(one.folder.layer(power), two.folder.layer(power))
            assert two.computed == 2 * two.folder.files(1, []).num_blocks
            more, network = wide_graph(kind, nodes=1500), network_of(7, 33, 17)
            alone = encode(more, network, folder=tmp_path / kind)
            embedded = encode(more, network, processes, folder=place, block_bytes=SMALL)
            assert embedded.computed > 3 * alone.computed
            assert same_bits(rows_in(embedded), rows_in(alone))
            assert not list(place.rglob("scratch"))
        assert processes.killed not in {0, *processes.processes()}


def test_whoever_comes_after_a_killed_driver_goes_on(tmp_path: Path) -> None:
    graph, cut = wide_graph(nodes=NODES), tmp_path / "cut"
    truth = propagate(graph, 2, folder=tmp_path / "whole", block_bytes=10 * SMALL)
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    # The script takes its graph from the tests.
    found = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    driver = subprocess.Popen([sys.executable, str(script), str(cut)], env=found)
    try:
        until(lambda: journaled(cut) >= 5, driver)
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    # Its two workers end, too, at most with the block they have in hand.
    sleep(0.5)
    before = journaled(cut)
    made = propagate(graph, 2, folder=cut)
    blocks = made.folder.files(1, []).num_blocks
    assert 5 <= before < 2 * blocks
    assert 2 * blocks - before - 2 <= made.computed <= 2 * blocks - before
    for power in (1, 2):
        assert same_bits(made.folder.layer(power), truth.folder.layer(power))


def test_a_block_that_cannot_be_computed_is_told(tmp_path: Path) -> None:
    class Gone(BlockProcesses):
        def run(self, work: LayerWork) -> Iterator[int]:
            (work.target.place / "rows.unfinished").unlink()
            return super().run(work)

    with Gone(1) as processes, pytest.raises(NodegraftError, match="No such file"):
        propagate(wide_graph(), 1, processes, folder=tmp_path)


def journaled(folder: Path) -> int:
    return sum(path.read_text().count(f"{DONE}\n") for path in folder.glob(f"*/*/{JOURNAL}"))


def until(is_true: Callable[[], bool], driver: "subprocess.Popen[bytes]") -> None:
    end = monotonic() + 400
    while not is_true():
        assert monotonic() < end
        assert driver.poll() is None
        sleep(0.02)
