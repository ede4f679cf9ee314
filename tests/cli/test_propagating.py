from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from nodegraft.cli.app import app
from nodegraft.cli.commands.build import _executor
from nodegraft.graph.disk.blocks.encode import stored_encoding
from nodegraft.graph.graph import Graph
from nodegraft.methods.neural.encoders import GCN
from nodegraft.methods.proto_gcn import ProtoGCN
from nodegraft.methods.sgc_mean import SGCMean
from nodegraft.runners.block_processes import BlockProcesses
from nodegraft.tables import storage
from tests.graph.blocks_of import in_memory, placed, same_bits, wide_graph


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["propagate", *map(str, arguments)], env={"COLUMNS": "80"})


@pytest.fixture
def on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    graph = placed(wide_graph(), tmp_path / "layers")
    monkeypatch.setattr(storage, "load_graph", lambda folder: graph)
    return graph


def test_layers_are_computed_once(on_disk: Graph, tmp_path: Path) -> None:
    first, again = invoke(tmp_path), invoke(tmp_path, "--hops", "2")
    assert "2 blocks computed\n" in first.output
    assert "0 blocks computed\n" in again.output
    kept = on_disk.layer_folder()
    assert kept is not None
    assert f"layers: {kept.place}\n" in first.output
    for power, truth in enumerate(in_memory(wide_graph(), 2)[1:], start=1):
        assert same_bits(kept.layer(power), truth)


def test_a_saved_model_embeds_all_nodes(on_disk: Graph, tmp_path: Path) -> None:
    labels = {"even": list(range(0, 200, 2)), "odd": list(range(1, 200, 2))}
    model = ProtoGCN(max_epochs=2).fit(wide_graph(), labels)
    model.save(tmp_path / "model")
    first, again = (invoke(tmp_path, "--model", tmp_path / "model") for _ in "12")
    assert "3 blocks computed\n" in first.output
    assert "0 blocks computed\n" in again.output
    encoder = model.answering_encoder()
    assert isinstance(encoder, GCN)
    rows = stored_encoding(on_disk, encoder.row_network())
    assert same_bits(rows, model.embed(on_disk, range(300)))
    SGCMean().fit(wide_graph(), labels).save(tmp_path / "means")
    refused = invoke(tmp_path, "--model", tmp_path / "means")
    assert refused.exit_code == 2
    assert "no trained encoder" in refused.output


def test_workers_are_processes_when_there_are_several() -> None:
    assert isinstance(_executor(None, 2), BlockProcesses)
    with _executor(None, 1) as here:
        assert here is None


def test_a_graph_in_memory_has_no_layers(tmp_path: Path) -> None:
    storage.save_graph(wide_graph(), tmp_path / "saved")
    refused = invoke(tmp_path / "saved")
    assert refused.exit_code == 2
    assert "nodegraft build" in refused.output
    assert "is not a saved directory" in invoke(tmp_path / "nowhere").output
