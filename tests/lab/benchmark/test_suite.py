import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from nodegraft.base.errors import ParameterError, UnknownNameError
from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.benchmark.suite import Suite
from nodegraft.methods.sgc_mean import SGCMean
from nodegraft.model.registry import REGISTRY as METHODS

SMALL = {"nodes": 300, "classes": 8}
SYNTHETIC = {"dataset": "synthetic", "set": SMALL}
DOCUMENT: dict[str, Any] = {
    "title": "A suite",
    "arrival": "with-class",
    "tables": ["overview"],
    "seeds": [0, 1],
    "protocols": ["strict", "published"],
    "datasets": [SYNTHETIC],
    "methods": [
        {"method": "sgc-mean"},
        {"name": "one hop", "method": "sgc-mean", "set": {"hops": 1}, "protocols": ["strict"]},
    ],
}
EXPERIMENTS = Path(__file__).parents[3] / "experiments"


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


def test_a_dataset_may_have_seeds_of_its_own() -> None:
    own = {"dataset": "synthetic", "seeds": [4]}
    one, other = (
        {"method": "sgc-mean"},
        {"method": "graft", "seeds": [7], "datasets": ["synthetic"]},
    )
    suite = Suite.from_document({**DOCUMENT, "datasets": [own], "methods": [one, other]})
    assert {(entry.name, entry.job.seed) for entry in suite.entries} == {
        ("sgc-mean", 4),
        ("graft", 7),
    }


def test_a_misspelt_key_of_a_method_is_named() -> None:
    with pytest.raises(
        ParameterError, match="A method of a suite has no parameter 'seed'\\. Did you mean 'seeds'"
    ):
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
    found = [entry.job for entry, document in suite.with_records(records) if document is not None]
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
    assert said.matches(document)
    for other in ({"ways": setting["ways"] + 1}, {"rehearse": True}, {"arrival": "present"}):
        wanted = {"dataset": "synthetic", "method": "sgc-mean", "dataset_options": SMALL, **other}
        assert not Job(**wanted).matches(document)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": [0]}, "A suite has no parameter 'seed'. Did you mean 'seeds'"),
        ({"methods": []}, "needs 'methods'"),
        ({"methods": [{"set": {}}]}, "A method of a suite needs 'method'"),
        ({"protocols": ["lenient"]}, "protocols must be a list, each one of 'strict', 'published'"),
        ({"seeds": 3}, "seeds must be a list, each a whole number at least 0, not 3"),
        ({"seeds": [-1]}, "seeds must be a list, each a whole number at least 0"),
        ({"arrival": "late"}, "arrival must be one of 'growing', 'mixed'"),
        ({"rehearse": "yes"}, "rehearse must be true or false, not 'yes'"),
        ({"settings": [{"shots": 0}]}, "settings must be a list, each a table of a whole number"),
        ({"settings": [{"shoots": 1}]}, "A setting has ways, shots and least_shots, not shoots"),
        ({"datasets": [{"dataset": "synthetic", "st": {}}]}, "A dataset of a suite has no"),
    ],
)
def test_a_wrong_suite_says_what_is_wrong(change: dict[str, Any], message: str) -> None:
    document = {**DOCUMENT, **change}
    if "protocols" in change:
        document["methods"] = [{"method": "sgc-mean"}]
    with pytest.raises(ParameterError, match=message):
        Suite.from_document(document)


def test_every_suite_says_how_nodes_arrive() -> None:
    """A default that changes one day must not change what a suite of today asks."""
    with pytest.raises(ParameterError, match="A suite needs 'arrival'"):
        Suite.from_document({name: DOCUMENT[name] for name in DOCUMENT if name != "arrival"})


@dataclass(kw_only=True)
class WithOneMore(SGCMean):
    """The same method on a later day: one more parameter, whose default changes nothing."""

    width: int = 7


@dataclass(kw_only=True)
class WithAnotherDefault(SGCMean):
    """The same method on a later day, with another default."""

    hops: int = 3


def test_a_parameter_added_later_orphans_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,036 of 1,473 entries would have been orphaned."""
    job = Job(dataset="synthetic", method="sgc-mean", dataset_options=SMALL)
    document = record(job)
    later = [
        replace(job, parameters=parameters)
        for parameters in ({}, {"width": 7}, {"width": 8}, {"hops": 1})
    ]
    monkeypatch.setitem(METHODS._classes, "sgc-mean", WithOneMore)
    assert [one.matches(document) for one in later] == [True, True, False, False]
    assert record(later[0])["run"] == document["run"]
    assert record(later[2])["run"] != document["run"]


def test_a_default_that_changes_makes_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(dataset="synthetic", method="sgc-mean", dataset_options=SMALL)
    document = record(job)
    monkeypatch.setitem(METHODS._classes, "sgc-mean", WithAnotherDefault)
    assert not replace(job, parameters={}).matches(document)
    assert replace(job, parameters={"hops": 2}).matches(document)


def test_a_parameter_that_is_gone_matters_only_if_it_was_changed() -> None:
    job = Job(dataset="synthetic", method="sgc-mean", dataset_options=SMALL)
    document = record(job)
    gone = {**document, "parameters": {**document["parameters"], "old": 1}}
    assert job.matches(gone)
    assert not job.matches({**gone, "changed_parameters": {"old": 1}})


@pytest.mark.parametrize(
    "change", [{"arrival": "present"}, {"seed": 1}, {"dataset_options": {}}, {"protocol": "x"}]
)
def test_everything_but_parameters_always_counts(change: dict[str, Any]) -> None:
    job = Job(dataset="synthetic", method="sgc-mean", dataset_options=SMALL)
    assert not job.matches({**record(job), **change})


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
        entry.job.make_model()
        entry.job.make_dataset()


def test_an_unknown_method_offers_the_closest() -> None:
    with pytest.raises(UnknownNameError, match="sgc-mean"):
        Job(dataset="synthetic", method="sgc-men").make_model()


def test_values_of_a_search_are_taken_dataset_by_dataset(tmp_path: Path) -> None:
    found = {"datasets": {"gentoo": {"best": {"parameters": {"hops": 3}, "score": 1.0}}}}
    (tmp_path / "search.json").write_text(json.dumps(found))
    document = {
        "arrival": "growing",
        "datasets": ["gentoo", "wordnet"],
        "methods": [
            {"method": "sgc-mean", "tuned": "search.json"},
            {"name": "one", "method": "sgc-mean", "tuned": "search.json", "set": {"hops": 1}},
        ],
    }
    entries = Suite.from_document(document, tmp_path).entries
    assert [entry.job.parameters for entry in entries] == [
        {"hops": 3},
        {"hops": 1},
        {},
        {"hops": 1},
    ]
    with pytest.raises(ParameterError, match="holds no search: make it with nodegraft lab tune"):
        Suite.from_document(document, tmp_path / "elsewhere")


def test_a_record_of_an_earlier_stream_version_is_not_that_of_a_job() -> None:
    job = Suite.from_document(DOCUMENT).entries[0].job
    document = record(job)
    assert job.matches(document)
    assert not job.matches({**document, "stream_version": 1})


def test_the_seed_is_no_parameter() -> None:
    with pytest.raises(ParameterError, match="use its seed"):
        Job(dataset="synthetic", method="sgc-mean", parameters={"seed": 3})


def test_eight_and_eight_point_zero_are_one_job() -> None:
    one, other = (
        Job(dataset="synthetic", method="ridge", parameters={"penalty": value})
        for value in (1, 1.0)
    )
    assert repr(one.make_model().get_params()) == repr(other.make_model().get_params())
    assert type(Job(dataset="synthetic", method="ridge", dataset_options={"signal": 2})
                .make_dataset().signal) is float  # type: ignore[attr-defined]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": []}, "needs 'seeds'"),
        (
            {"methods": [{"method": "graft", "datasets": [{**SYNTHETIC, "seeds": [5]}]}]},
            "give seeds to the method",
        ),
        ({"seeds": [0, 0]}, "seed 0 comes twice"),
        ({"datasets": ["synthetic", "synthetic"]}, "comes twice"),
        ({"methods": [{"method": "graft", "datasets": ["gentooo"]}]}, "to run on 'gentooo'"),
    ],
)
def test_suites_that_ask_for_nothing_or_twice_say_so(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Suite.from_document({**DOCUMENT, **change})


def test_the_seed_of_a_method_does_not_reveal_a_large_seed() -> None:
    assert Job(dataset="synthetic", method="graft", seed=7).make_model().seed == 7
    assert Job(dataset="synthetic", method="graft", seed=81250943607).make_model().seed == 607


def test_the_published_protocol_cannot_be_sealed() -> None:
    with pytest.raises(ParameterError, match="cannot be sealed"):
        Job(dataset="synthetic", method="graft", protocol="published", sealed=True)


def test_all_problems_of_a_suite_are_listed_once() -> None:
    methods = [{"method": "graft", "sed": [1]}, {"method": "graft", "seeds": [-1]}, {"set": {}}]
    with pytest.raises(ParameterError, match=r"(?s)3 problems:.*'sed'.*seeds.*needs 'method'"):
        Suite.from_document({**DOCUMENT, "methods": methods})
    methods = [
        {"method": "graft", "set": {"seed": 2}},
        {"method": "sgc-mean", "settings": [{"shoots": 1}]},
    ]
    with pytest.raises(ParameterError, match=r"(?s)2 problems:.*use its seed.*shoots") as error:
        Suite.from_document({**DOCUMENT, "methods": methods, "seeds": [0, 1]})
    assert str(error.value).count("use its seed") == 1
