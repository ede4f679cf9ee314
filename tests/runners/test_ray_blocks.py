from collections.abc import Iterator
from pathlib import Path

import pytest
from performance.ray_nodes import two_nodes

from nodegraft.graph.disk.blocks.encode import Propagation, encode, propagate
from nodegraft.graph.disk.blocks.layer_work import LayerWork
from nodegraft.runners.ray_connection import RayBlocks
from tests.graph.blocks_of import SMALL, network_of, rows_in, same_bits, wide_graph
from tests.slow_suite import slow

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning",  # sockets and files of Ray's own
    "ignore:.*Ray state API:DeprecationWarning",
)


def same(one: Propagation, other: Propagation) -> bool:
    return all(same_bits(one.folder.layer(power), other.folder.layer(power)) for power in (1, 2))


def test_tasks_give_the_bits_of_one_process(tmp_path: Path) -> None:
    with RayBlocks("local", cpus=2) as tasks:
        for kind, size in (("float32", SMALL), ("float16", 2 * SMALL), ("sparse", SMALL)):
            graph = wide_graph(kind)
            here = propagate(graph, 2, folder=tmp_path / "here")
            there = propagate(graph, 2, tasks, folder=tmp_path / "there", block_bytes=size)
            assert there.computed > 2
            assert same(there, here)
            embedded = [
                encode(graph, network_of(7, 33, 17), who, folder=tmp_path / name, block_bytes=size)
                for name, who in (("here", None), ("there", tasks))
            ]
            assert same_bits(*map(rows_in, embedded))


@slow
def test_two_nodes_and_the_death_of_one(tmp_path: Path) -> None:
    graph = wide_graph(nodes=2000)
    here = propagate(graph, 2, folder=tmp_path / "here", block_bytes=10 * SMALL)
    with two_nodes(tmp_path) as (address, second), RayBlocks(address) as tasks:

        class Killed:
            blocks = 0

            def run(self, work: LayerWork) -> Iterator[int]:
                for done in tasks.run(work):
                    self.blocks += 1
                    if self.blocks == 20:
                        second.kill()
                    yield done

        whole = propagate(graph, 2, tasks, folder=tmp_path / "whole", block_bytes=SMALL)
        assert same(whole, here)
        killed = propagate(graph, 2, Killed(), folder=tmp_path / "killed", block_bytes=SMALL)
        assert same(killed, here)
        assert killed.computed == whole.computed
