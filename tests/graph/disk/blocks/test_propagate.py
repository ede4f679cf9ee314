from pathlib import Path

import numpy as np
import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.graph.disk.blocks.encode import propagate
from nodegraft.graph.disk.blocks.layer_work import LayerWork, ThisProcess
from nodegraft.graph.graph import Graph
from tests.graph.blocks_of import SMALL, in_memory, placed, same_bits, wide_graph
from tests.graph.reference import typed_graph

KINDS = ["float32", "float16", "sparse"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block_bytes", [SMALL, 3 * SMALL, None])
def test_layers_on_disk_are_those_made_in_memory(
    kind: str, block_bytes: int | None, tmp_path: Path
) -> None:
    graph = wide_graph(kind)
    made = propagate(graph, 2, folder=tmp_path, block_bytes=block_bytes)
    for power, truth in enumerate(in_memory(graph, 2)[1:], start=1):
        assert same_bits(made.folder.layer(power), truth)
    assert (made.computed > 2) == (block_bytes is not None)


@pytest.mark.parametrize("kind", KINDS)
def test_a_graph_with_a_place_answers_from_it(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, asked = wide_graph(kind), np.array([7, 250, 7, 0])
    graph = placed(plain, tmp_path)
    before = graph.propagated(asked, 2)
    propagate(graph, 2, block_bytes=SMALL)
    monkeypatch.setattr(type(graph._adjacency), "hop", None)
    after = placed(plain, tmp_path).propagated(asked, 2)
    for one, other, third in zip(before, after, graph.propagated(asked, 2), strict=True):
        assert same_bits(one, other)
        assert same_bits(one, third)


def test_more_hops_begin_where_fewer_ended(tmp_path: Path) -> None:
    graph = wide_graph()
    first = propagate(graph, 1, folder=tmp_path, block_bytes=SMALL)
    assert not propagate(graph, 1, folder=tmp_path).computed
    second = propagate(graph, 3, folder=tmp_path)
    # The size of blocks was settled by the first.
    assert second.computed == 2 * first.computed


def test_kinds_of_edges_that_count_differently_are_kept_apart(tmp_path: Path) -> None:
    graph = typed_graph()
    weights = {"plain": 1.0, "heavy": 0.5, "told": 0.0}
    merged = propagate(graph, 1, folder=tmp_path)
    weighed = propagate(graph.weighing(weights), 1, folder=tmp_path)
    assert merged.folder.place != weighed.folder.place
    truth = graph.weighing(weights).propagated(graph.rows, 1)[1]
    assert same_bits(weighed.folder.layer(1), truth)


@pytest.mark.parametrize("kind", KINDS)
def test_whoever_starts_again_goes_on(kind: str, tmp_path: Path) -> None:
    class Cut(ThisProcess):
        def run(self, work: LayerWork):  # type: ignore[no-untyped-def]
            for count, done in enumerate(super().run(work)):
                if count == 3:
                    raise KeyboardInterrupt
                yield done

    graph = wide_graph(kind)
    truth = propagate(graph, 2, folder=tmp_path / "whole", block_bytes=SMALL)
    with pytest.raises(KeyboardInterrupt):
        propagate(graph, 2, Cut(), folder=tmp_path / "cut", block_bytes=SMALL)
    kept = graph.layer_folder(tmp_path / "cut")
    assert kept is not None
    assert kept.layer(1) is None
    made = propagate(graph, 2, folder=tmp_path / "cut", block_bytes=2 * SMALL)
    assert made.computed == truth.computed - 3
    for power in (1, 2):
        assert same_bits(made.folder.layer(power), truth.folder.layer(power))


def test_a_journal_without_its_rows_does_not_count(tmp_path: Path) -> None:
    graph = wide_graph()
    truth = propagate(graph, 1, folder=tmp_path, block_bytes=SMALL)
    (truth.folder.place / "1" / "rows.npy").unlink()
    assert propagate(graph, 1, folder=tmp_path).computed
    assert same_bits(truth.folder.layer(1), in_memory(graph, 1)[1])


@pytest.mark.parametrize("kind", ["float32", "sparse"])
def test_a_graph_without_numbers_has_layers_without_numbers(kind: str, tmp_path: Path) -> None:
    graph = wide_graph(kind, nodes=30)
    empty = graph.with_features(0 * graph._features)
    for one in (empty, Graph([], np.zeros((0, 3)))):
        made = propagate(one, 1, folder=tmp_path)
        assert same_bits(made.folder.layer(1), in_memory(one, 1)[1])


def test_what_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    graph = wide_graph()
    with pytest.raises(ParameterError, match="name one"):
        propagate(graph, 1)
    with pytest.raises(ParameterError, match="whole graphs"):
        propagate(graph.view(np.arange(5)), 1, folder=tmp_path)
    with pytest.raises(ParameterError, match="at least 1"):
        propagate(graph, 0, folder=tmp_path)
