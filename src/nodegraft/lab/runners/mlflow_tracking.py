"""Export of run records to MLflow, an optional extra; record files remain the source of truth."""

from collections.abc import Mapping
from typing import Any

from nodegraft.base.errors import ParameterError
from nodegraft.base.extras import extra
from nodegraft.base.files.folder import WriteOnceFolder
from nodegraft.lab.benchmark.record import RunRecord
from nodegraft.lab.runners.local import JobEnded, JobEvent

with extra("mlflow", package="mlflow", purpose="Showing runs in MLflow"):
    from mlflow.entities import Metric, Param, RunTag
    from mlflow.exceptions import MlflowException
    from mlflow.tracking import MlflowClient

EXPERIMENT = "nodegraft"
RECORD = "nodegraft.record"
SHOWN = ("macro_accuracy", "known_accuracy", "novel_accuracy", "harmonic_mean", "seconds")


class MlflowTracker:
    """Exporter that writes records as MLflow runs: inputs as parameters, sessions as steps.

    Args:
        address: Tracking URI of MLflow.
    """

    def __init__(self, address: str) -> None:
        try:
            self._client = MlflowClient(address)
            experiment = self._client.get_experiment_by_name(EXPERIMENT)
            self._experiment = (
                experiment.experiment_id
                if experiment
                else self._client.create_experiment(EXPERIMENT)
            )
        except MlflowException as error:
            raise ParameterError(f"MLflow cannot be reached at {address}: {error}") from error

    def handle(self, event: JobEvent) -> None:
        """Log the record of a job that ended without an error; ignore other events."""
        if isinstance(event, JobEnded) and not event.error:
            folder, _, name = event.place.rpartition("/")
            self.log(RunRecord.from_bytes(WriteOnceFolder(folder).read(name)).document)

    def log(self, record: Mapping[str, Any]) -> None:
        """Log a record as an MLflow run, unless it was logged before."""
        query = f"tags.`{RECORD}` = '{record['run']}'"
        if self._client.search_runs([self._experiment], query, max_results=1):
            return
        title = f"{record['method']} on {record['dataset']}, seed {record['seed']}"
        run = self._client.create_run(self._experiment, run_name=title).info
        self._client.log_batch(
            run.run_id,
            metrics=list(_metrics(record, run.start_time)),
            params=[Param(name, str(value)) for name, value in _inputs(record).items()],
            tags=[RunTag(RECORD, record["run"])],
        )
        self._client.set_terminated(run.run_id)


def _inputs(record: Mapping[str, Any]) -> dict[str, Any]:
    identity = {name: record[name] for name in ("method", "dataset", "seed", "protocol", "arrival")}
    return {**record["setting"], **record["parameters"], **identity}


def _metrics(record: Mapping[str, Any], time: int) -> list[Metric]:
    numbers = [(f"summary.{name}", value, 0) for name, value in record["summary"].items()]
    numbers += [
        (name, session[name], session["index"]) for session in record["sessions"] for name in SHOWN
    ]
    return [Metric(name, value, time, step) for name, value, step in numbers if value is not None]
