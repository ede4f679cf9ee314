"""MLflow integration: register the live version of a store as a pyfunc model."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.predictions import predict_keys
from nodegraft.analysis.snapshot import State
from nodegraft.base.errors import ParameterError
from nodegraft.base.extras import extra
from nodegraft.base.files.bundle import read_bundle, write_bundle
from nodegraft.model.registry import load_model
from nodegraft.store.store import Store
from nodegraft.tables.storage import load_graph_and_document, save_graph

with extra("mlflow", package="mlflow", purpose="A model in MLflow"):
    import mlflow
    import pandas as pd
    from mlflow.models import ModelSignature
    from mlflow.pyfunc import log_model
    from mlflow.pyfunc.model import PythonModel
    from mlflow.types import ColSpec, DataType, Schema

CHAMPION = "champion"
"""Alias of the registered model version that makes the same predictions as the live version."""

OBJECT = "nodegraft.model"
"""Tag with the names of a version's model and graph objects, and whether its world is open."""

_CODE = """\
from mlflow.models import set_model

from nodegraft.integrations.mlflow_model import VersionModel

set_model(VersionModel())
"""
"""Script that MLflow runs to load the model, so that no pickle is needed."""


class VersionModel(PythonModel):
    """MLflow model that makes the same predictions as a version of a store."""

    def load_context(self, context: Any) -> None:
        """Load graph, labels and model from the artifact.

        Args:
            context: MLflow's context, which names the folder of the artifact.
        """
        folder = Path(context.artifacts["version"])
        graph, self._version = load_graph_and_document(folder / "graph")
        labels = StoreLabels.from_state(*read_bundle(folder / "labels"))
        model = load_model(folder / "model")
        self._state = State(graph, labels, model).in_world(self._version["world"])

    # `model_input` is annotated because MLflow reads the annotation and warns if it is Any.
    def predict(
        self, context: Any, model_input: pd.DataFrame, params: dict[str, Any] | None = None
    ) -> Any:
        """Return predictions for nodes, like :meth:`nodegraft.Store.predict`, as a DataFrame.

        Args:
            context: MLflow's context; not used.
            model_input: DataFrame with the column ``node``: keys of nodes. Keys that are not in the
                graph get a row without a class.
            params: Not used.
        """
        nodes = model_input["node"].tolist()
        number = self._version["version"]
        return predict_keys(self._state, nodes, number, missing="null").to_pandas()


def register_live_version(store: Store, name: str) -> int:
    """Register the live version of a store in MLflow and give it the alias ``champion``.

    Call it after each promotion and rollback. If the version is already registered, only the alias
    moves. The artifact contains graph, labels and model of this version, but not the history of the
    store.

    Args:
        store: The store, whose graph must be in memory, not built by :func:`nodegraft.build_graph`.
        name: Name of the registered model in MLflow.

    Returns:
        MLflow's version number of the registered model, which is not the store's version number.
    """
    live = store.version(store.live)
    client, identity = mlflow.MlflowClient(), f"{live.model} {live.graph} {store.world}"
    known = client.search_model_versions(f"name = '{name}'")
    number = next((int(old.version) for old in known if old.tags.get(OBJECT) == identity), None)
    if number is None:
        number = _log(store, name)
        client.set_model_version_tag(name, str(number), OBJECT, identity)
        client.set_model_version_tag(name, str(number), "nodegraft.version", str(live.number))
    client.set_registered_model_alias(name, CHAMPION, str(number))
    return number


def _log(store: Store, name: str) -> int:
    state = store.state()
    if state.graph.is_on_disk:
        raise ParameterError(
            "The graph of this store is on disk and may be larger than memory, so it cannot be an "
            "artifact of MLflow: serve the store with nodegraft serve."
        )
    key_type = DataType.string if state.graph.has_text_keys else DataType.long
    with TemporaryDirectory() as temporary:
        folder, code = Path(temporary) / "version", Path(temporary) / "nodegraft_model.py"
        folder.mkdir()
        version = {"version": store.live, "world": store.world}
        save_graph(state.graph, folder / "graph", version)
        write_bundle(folder / "labels", *state.labels.state())
        state.model.save(folder / "model")
        code.write_text(_CODE)
        logged = log_model(
            name=name,
            python_model=str(code),
            artifacts={"version": str(folder)},
            registered_model_name=name,
            signature=ModelSignature(Schema([ColSpec(key_type, "node")])),
            pip_requirements=["nodegraft[store,mlflow]"],
        )
    return int(logged.registered_model_version)
