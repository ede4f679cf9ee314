from pathlib import Path

import pytest
from mlflow.tracking import MlflowClient

from nodegraft.lab.benchmark.archive import read_documents
from nodegraft.lab.runners.local import JobStarted, run_job
from nodegraft.lab.runners.mlflow_tracking import EXPERIMENT, RECORD, MlflowTracker
from tests.lab.runners.runs import job

pytestmark = pytest.mark.filterwarnings("ignore")  # what MLflow and its database do is theirs


def test_a_record_becomes_one_run_with_a_step_a_session(tmp_path: Path) -> None:
    address, wanted = f"sqlite:///{tmp_path / 'mlflow.db'}", job(3)
    end = run_job(wanted, wanted.load, str(tmp_path / "runs"))
    tracker = MlflowTracker(address)
    tracker.handle(JobStarted(wanted))
    tracker.handle(end)
    MlflowTracker(address).handle(end)  # told twice, shown once
    client = MlflowClient(address)
    experiment = client.get_experiment_by_name(EXPERIMENT)
    assert experiment is not None
    (run,) = client.search_runs([experiment.experiment_id])
    (record,) = read_documents(tmp_path / "runs")
    assert run.data.tags[RECORD] == record["run"]
    assert (run.data.params["method"], run.data.params["seed"]) == ("sgc-mean", "3")
    steps = client.get_metric_history(run.info.run_id, "macro_accuracy")
    assert [step.value for step in steps] == [one["macro_accuracy"] for one in record["sessions"]]
    assert run.data.metrics["summary.last_accuracy"] == record["summary"]["last_accuracy"]
    assert run.info.status == "FINISHED"
