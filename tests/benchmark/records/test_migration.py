import json
from pathlib import Path
from typing import Any

import pytest

from nodegraft.base.errors import DataError
from nodegraft.benchmark.records.archive import read_documents
from nodegraft.benchmark.records.migration import _DEFAULTS_OF_2, SCHEMA, migrate, run_name
from nodegraft.model.registry import REGISTRY

OLD = json.loads((Path(__file__).parent / "schema-2.json").read_text())
RESULTS = Path(__file__).parents[3] / "results"


def test_a_record_of_schema_2_says_the_same_and_more() -> None:
    new = migrate(OLD)
    assert new["schema"] == SCHEMA
    assert new["changed_parameters"] == {"pretrain_on": "known"}
    assert new["source"] == {"version": "0.1.0.dev0"}
    assert new["run"] == run_name(new) != OLD["run"]
    added = {"changed_parameters", "source", "node_seed", "stream_version"}
    assert (new["node_seed"], new["stream_version"]) == (OLD["seed"], 1)
    assert set(new) == set(OLD) | added
    changed = {"schema", "run", "setting", "default_setting", "sessions", "summary"}
    for name in set(OLD) - changed:
        assert new[name] == OLD[name]
    for name in ("setting", "default_setting"):
        assert new[name] == {**OLD[name], "base_nodes": 0, "least_shots": None}
    assert new["summary"] == {**OLD["summary"], "unknown_auroc": None}
    assert [session["unknown_auroc"] for session in new["sessions"]] == [None] * len(
        OLD["sessions"]
    )


def test_todays_records_stay_as_they_are() -> None:
    new = migrate(OLD)
    assert migrate(new) == new


def test_a_parameter_of_somebody_elses_method_counts() -> None:
    theirs = {**OLD, "method": "text-mean", "parameters": {"seed": 0, "width": 3}}
    assert migrate(theirs)["changed_parameters"] == {"width": 3}


def test_a_schema_of_the_future_is_refused() -> None:
    with pytest.raises(DataError, match=r"schema 99; .* upgrade"):
        migrate({**OLD, "schema": 99})


@pytest.mark.parametrize("name", sorted(_DEFAULTS_OF_2))
def test_defaults_of_that_day_are_complete(name: str) -> None:
    """They are those of the code when the records were frozen; methods may have more today."""
    today = REGISTRY.get("graft-1" if name == "graft" else name)().get_params()
    # Parameters of graft's first edition that its successor does not have.
    assert set(_DEFAULTS_OF_2[name]) - {"restart", "walks"} <= set(today)


def test_what_was_graft_is_its_first_edition() -> None:
    migrated = migrate({**OLD, "method": "graft"})
    assert (migrated["method"], migrated["run"]) == ("graft-1", run_name(migrated))
    assert migrate({**migrated, "method": "graft"})["method"] == "graft"


def test_every_frozen_record_names_the_code_that_made_it() -> None:
    documents: list[dict[str, Any]] = read_documents(RESULTS)
    assert len(documents) >= 1007
    for document in documents:
        assert document["run"] == run_name(document)
        assert document["source"].get("commit") or document["source"].get("hash")
