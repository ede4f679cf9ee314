import json
import stat
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from nodegraft.base.errors import RecordConflictError
from nodegraft.benchmark.protocol import evaluate
from nodegraft.benchmark.results import RunRecord, make_record
from nodegraft.datasets.synthetic import Synthetic
from nodegraft.graph.split import ClassSplit
from nodegraft.graph.stream import Arrival, ClassStream
from nodegraft.methods.sgc_mean import SGCMean

SESSION_FIELDS = {
    "index",
    "classes",
    "macro_accuracy",
    "micro_accuracy",
    "known_accuracy",
    "novel_accuracy",
    "harmonic_mean",
    "seconds",
    "peak_bytes",
    "kept_bytes",
}


def record(
    seed: int = 0, hops: int = 2, arrival: Arrival = "with-class", **options: Any
) -> RunRecord:
    loaded = Synthetic(nodes=300, classes=8, signal=2.0, **options).load()
    split = ClassSplit.draw(loaded.labels, loaded.setting, seed)
    stream, model = ClassStream(loaded.graph, split, arrival=arrival), SGCMean(seed=seed, hops=hops)
    return make_record(model, loaded, stream, evaluate(model, stream))


def test_json_has_what_was_promised(tmp_path: Path) -> None:
    place = Path(record().write(tmp_path))
    document = json.loads(place.read_text())
    promised = {"method", "dataset", "seed", "protocol", "parameters", "hashes", "versions"}
    assert promised | {"sessions", "summary"} <= set(document)
    assert document["protocol"] == "strict"
    assert all(set(session) >= SESSION_FIELDS for session in document["sessions"])
    assert {"dataset", "split"} <= set(document["hashes"])
    assert {"nodegraft", "torch", "numpy"} <= set(document["versions"])


def test_parquet_has_every_class_of_every_session(tmp_path: Path) -> None:
    made = record()
    rows = pq.read_table(Path(made.write(tmp_path)).with_suffix(".parquet")).to_pylist()
    sessions = made.document["sessions"]
    assert len(rows) == sum(session["classes"] for session in sessions)
    last = [row["recall"] for row in rows if row["session"] == sessions[-1]["index"]]
    assert sum(last) / len(last) == pytest.approx(sessions[-1]["macro_accuracy"])


def test_name_depends_on_every_input_and_on_nothing_else() -> None:
    made = record()
    assert made.name == record().name
    others = [record(seed=1), record(hops=1), record(arrival="present"), record(homophily=0.7)]
    assert len({made.name, *(other.name for other in others)}) == 5


def test_is_never_overwritten(tmp_path: Path) -> None:
    made = record()
    place = Path(made.write(tmp_path))
    written = place.read_bytes()
    assert not place.stat().st_mode & stat.S_IWUSR
    assert record().write(tmp_path) == str(place)
    assert place.read_bytes() == written
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".parquet"]


def test_a_rerun_that_disagrees_is_an_error(tmp_path: Path) -> None:
    made = record()
    made.write(tmp_path)
    made.document["sessions"][0]["macro_accuracy"] += 0.01
    with pytest.raises(RecordConflictError, match="another result"):
        made.write(tmp_path)
