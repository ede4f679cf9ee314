"""The live version of a store as a pyfunc model in MLflow's registry."""

from pathlib import Path

import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.tables.disk.build import build_graph
from nodegraft.tables.storage import load_graph
from tests.slow_suite import slow
from tests.store import on_disk
from tests.store.small import made

# What MLflow and its database do is theirs.
pytestmark = [slow, pytest.mark.filterwarnings("ignore")]


def test_the_champion_predicts_as_the_live_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip("mlflow")
    pandas = pytest.importorskip("pandas")
    from nodegraft.integrations.mlflow_model import register_live_version

    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    store, later = made(tmp_path / "store", method="graft")
    nodes = store.graph().keys_of(range(40))
    frame = pandas.DataFrame({"node": nodes})

    def champion_predicts(version: int) -> bool:
        found = mlflow.pyfunc.load_model("models:/shop@champion").predict(frame)
        return bool(found.equals(store.predict(nodes, version=version).to_pandas()))

    assert register_live_version(store, "shop") == 1
    assert champion_predicts(1)
    store.add(later, intent=Intent(override="test"))
    # A candidate is not registered.
    assert register_live_version(store, "shop") == 1
    store.promote()
    assert register_live_version(store, "shop") == 2
    assert champion_predicts(2)
    assert not champion_predicts(1)
    unknown = mlflow.pyfunc.load_model("models:/shop@champion")
    assert unknown.predict(pandas.DataFrame({"node": [nodes[0]]}))["reason"][0] == "own_label"
    store.rollback()
    assert register_live_version(store, "shop") == 1
    assert champion_predicts(1)
    store.parts.settings.set("world", "closed", Intent())
    assert register_live_version(store, "shop") == 3
    assert champion_predicts(1)
    store.close()
    with Store.open(tmp_path / "store") as again:
        assert register_live_version(again, "shop") == 3


def test_a_graph_on_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    from nodegraft.integrations.mlflow_model import register_live_version

    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    tables = on_disk.write_tables(tmp_path / "tables")
    build_graph(*tables, tmp_path / "graph", key="id", text="words", edge_type="kind")
    graph = load_graph(tmp_path / "graph")
    with (
        Store.init(tmp_path / "store", graph, on_disk.labels_of(0, 1), method="sgc-mean") as store,
        pytest.raises(ParameterError, match="is on disk"),
    ):
        register_live_version(store, "shop")
