from pathlib import Path
from typing import Any

import pytest

from nodegraft.base.errors import ParameterError, UnknownNameError
from nodegraft.benchmark.job import Job
from nodegraft.benchmark.suite import Suite

SMALL = {"nodes": 300, "classes": 8}
DOCUMENT: dict[str, Any] = {
    "title": "A suite",
    "tables": ["overview"],
    "seeds": [0, 1],
    "protocols": ["strict", "published"],
    "datasets": [{"dataset": "synthetic", "set": SMALL}],
    "methods": [
        {"method": "sgc-mean"},
        {"name": "one hop", "method": "sgc-mean", "set": {"hops": 1}, "protocols": ["strict"]},
    ],
}
EXPERIMENTS = Path(__file__).parents[2] / "experiments"


def record(job: Job) -> dict[str, Any]:
    loaded = job.load()
    return job.run(loaded, job.stream(loaded)).document


def test_jobs_are_the_product_of_what_is_listed() -> None:
    suite = Suite.from_document(DOCUMENT)
    asked = [(entry.name, entry.job.seed, entry.job.protocol) for entry in suite.entries]
    plain = [("sgc-mean", seed, protocol) for seed in (0, 1) for protocol in DOCUMENT["protocols"]]
    assert asked == [*plain, ("one hop", 0, "strict"), ("one hop", 1, "strict")]
    assert suite.entries[-1].job.parameters == {"hops": 1}


def test_a_method_may_have_lists_of_its_own() -> None:
    own = {"method": "text-only", "seeds": [7], "datasets": []}
    methods = [{**own, "datasets": DOCUMENT["datasets"], "protocols": ["strict"]}, own]
    suite = Suite.from_document({**DOCUMENT, "methods": methods})
    assert [(entry.job.seed, entry.job.protocol) for entry in suite.entries] == [(7, "strict")]


def test_a_misspelt_key_of_a_method_is_named() -> None:
    with pytest.raises(ParameterError, match="sgc-mean has 'seed' in the suite"):
        Suite.from_document({**DOCUMENT, "methods": [{"method": "sgc-mean", "seed": 3}]})


def test_settings_are_part_of_the_name() -> None:
    settings = [{"ways": 1, "shots": 3}, {"shots": 2}]
    suite = Suite.from_document({**DOCUMENT, "settings": settings, "seeds": [0]})
    names = {entry.name for entry in suite.entries}
    assert names == {
        "sgc-mean 1-way 3-shot",
        "sgc-mean 2-shot",
        "one hop 1-way 3-shot",
        "one hop 2-shot",
    }


def test_a_record_answers_its_job_and_no_other() -> None:
    suite = Suite.from_document(DOCUMENT)
    first = suite.entries[0].job
    records = [record(first)]
    found = [entry.job for entry, document in suite.recorded(records) if document is not None]
    assert found == [first]
    assert len(suite.missing(records)) == len(suite.entries) - 1


def test_the_default_setting_said_aloud_is_the_same_job() -> None:
    job = Job(dataset="synthetic", method="sgc-mean", dataset_options=SMALL)
    document = record(job)
    setting = document["default_setting"]
    said = Job(
        dataset="synthetic",
        method="sgc-mean",
        dataset_options=SMALL,
        parameters={"hops": 2},
        ways=setting["ways"],
        shots=setting["shots"],
    )
    assert said.is_recorded_by(document)
    for other in ({"ways": setting["ways"] + 1}, {"rehearse": True}, {"arrival": "present"}):
        wanted = {"dataset": "synthetic", "method": "sgc-mean", "dataset_options": SMALL, **other}
        assert not Job(**wanted).is_recorded_by(document)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": [0]}, "no 'seed'"),
        ({"methods": []}, "needs 'methods'"),
        ({"protocols": ["lenient"]}, "protocol is 'strict' or 'published'"),
    ],
)
def test_a_wrong_suite_says_what_is_wrong(change: dict[str, Any], message: str) -> None:
    document = {**DOCUMENT, **change}
    if "protocols" in change:
        document["methods"] = [{"method": "sgc-mean"}]
    with pytest.raises(ParameterError, match=message):
        Suite.from_document(document)


def test_a_file_that_is_none_says_so(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("title = ")
    for place in (tmp_path / "bad.toml", tmp_path / "absent.toml"):
        with pytest.raises(ParameterError, match="can't be read as a suite"):
            Suite.read(place)


@pytest.mark.parametrize("place", sorted(EXPERIMENTS.glob("*.toml")), ids=lambda place: place.stem)
def test_every_experiment_names_methods_and_fields_that_exist(place: Path) -> None:
    suite = Suite.read(place)
    assert suite.entries
    assert suite.tables
    # Builds every method and dataset of the suite with its fields.
    assert len(suite.missing([])) == len(suite.entries)
    for entry in suite.entries:
        assert not entry.job.is_recorded_by({"setting": {}, **NOTHING})


NOTHING: dict[str, Any] = dict.fromkeys(
    ("method", "dataset", "seed", "arrival", "protocol", "parameters", "dataset_options")
) | {"setting": {"ways": 0, "shots": 0}, "default_setting": {"ways": 0, "shots": 0}}


def test_an_unknown_method_offers_the_closest() -> None:
    with pytest.raises(UnknownNameError, match="sgc-mean"):
        Job(dataset="synthetic", method="sgc-men").model()
