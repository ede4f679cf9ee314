import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nodegraft
from nodegraft.base.hashing import content_hash, file_hash
from nodegraft.evaluation.protocol import evaluate
from nodegraft.lab.benchmark.record import (
    CLASSES,
    RunRecord,
    comparable,
    make_record,
    this_code,
)
from nodegraft.lab.datasets.synthetic import Synthetic
from nodegraft.methods.sgc_mean import SGCMean
from nodegraft.model.registry import MethodDescription
from nodegraft.streams.arrival import Arrival

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
    stream, model = loaded.stream(seed=seed, arrival=arrival), SGCMean(seed=seed, hops=hops)
    return make_record(MethodDescription.of(model), loaded, stream, evaluate(model, stream))


def test_a_record_has_what_was_promised() -> None:
    document = json.loads(record().to_bytes())
    promised = {"method", "dataset", "seed", "protocol", "arrival", "setting", "dataset_options"}
    promised |= {"parameters", "changed_parameters", "hashes", "source", "versions"}
    assert promised | {"sessions", "summary", "classes"} <= set(document)
    assert document["protocol"] == "strict"
    assert all(set(session) >= SESSION_FIELDS for session in document["sessions"])
    assert {"dataset", "split"} <= set(document["hashes"])
    assert {"version", "hash"} == set(document["source"])
    assert {"nodegraft", "torch", "numpy"} <= set(document["versions"])


def test_it_comes_back_from_its_file() -> None:
    made = record()
    back = RunRecord.from_bytes(made.to_bytes())
    assert back.document == json.loads(json.dumps(made.document))
    assert back.classes.equals(made.classes)


def test_the_accuracy_matrix_by_hand() -> None:
    rows = [(0, "a", 0.8), (0, "b", 0.6), (1, "a", 0.6), (1, "b", 0.6), (1, "c", 0.3)]
    table = pa.Table.from_pylist(
        [{"session": t, "class": name, "queries": 5, "recall": recall} for t, name, recall in rows],
        schema=CLASSES,
    )
    sessions = [{"index": 0, "new_classes": ["a", "b"]}, {"index": 1, "new_classes": ["c"]}]
    matrix = RunRecord({"sessions": sessions}, table).accuracy_matrix()
    np.testing.assert_allclose(matrix, [[0.7, np.nan], [0.6, 0.3]])


def test_the_accuracy_matrix_agrees_with_the_sessions() -> None:
    made = record()
    matrix, sessions = made.accuracy_matrix(), made.document["sessions"]
    assert np.isnan(matrix[np.triu_indices(len(sessions), 1)]).all()
    assert matrix[:, 0].tolist() == pytest.approx([one["known_accuracy"] for one in sessions])


def test_the_table_has_every_class_of_every_session() -> None:
    made = record()
    rows, sessions = made.classes.to_pylist(), made.document["sessions"]
    assert len(rows) == sum(session["classes"] for session in sessions)
    last = [row["recall"] for row in rows if row["session"] == sessions[-1]["index"]]
    assert sum(last) / len(last) == pytest.approx(sessions[-1]["macro_accuracy"])


def test_name_depends_on_every_input_and_on_nothing_else() -> None:
    made = record()
    assert made.run == record().run
    others = [record(seed=1), record(hops=1), record(arrival="present"), record(homophily=0.7)]
    assert len({made.run, *(other.run for other in others)}) == 5


def test_only_changed_parameters_are_part_of_the_identity() -> None:
    assert record().document["changed_parameters"] == {}
    assert record(hops=1).document["changed_parameters"] == {"hops": 1}
    assert record(hops=1).document["parameters"] == {"seed": 0, "hops": 1}


def test_clocks_versions_and_code_may_differ() -> None:
    first, second = comparable(record().document), comparable(record().document)
    assert first == second
    assert not {"source", "versions", "notes"} & set(first)
    assert "seconds" not in first["sessions"][0]


def test_the_hash_of_the_code_is_that_of_the_package_alone() -> None:
    package = Path(nodegraft.__file__).parent
    files = sorted(package.rglob("*.py"))
    hashes = {path.relative_to(package).as_posix(): file_hash(path) for path in files}
    assert this_code()["hash"] == content_hash(hashes)
