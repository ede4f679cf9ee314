import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.runners.search import Search, Trial, best, search, trials_so_far
from nodegraft.methods.sgc_mean import SGCMean

PLAN = Search(
    arrival="growing",
    method="sgc-mean",
    datasets=("synthetic", "gentoo"),
    seeds=(0, 1),
    trials=3,
    space={"hops": [0, 1, 2, 3]},
)


def wants_three(job: Job) -> float:
    """A judge that likes more hops, and hopes to see validation classes only."""
    assert job.rehearse
    hops: int = job.parameters["hops"]
    return hops / 3


def any_score(job: Job) -> float:
    """A judge that likes all values alike."""
    return 0.0


def test_the_best_value_of_each_dataset_is_found_and_kept(tmp_path: Path) -> None:
    trials = list(search(PLAN, tmp_path / "plan.json", wants_three))
    assert [name for name, _ in trials] == ["synthetic"] * 3 + ["gentoo"] * 3
    kept = json.loads((tmp_path / "plan.json").read_text())["datasets"]
    for dataset in PLAN.datasets:
        own = [trial for name, trial in trials if name == dataset]
        assert own[0].parameters == {"hops": SGCMean().hops}
        assert kept[dataset]["best"]["score"] == best(own).score
        assert best(own).score == max(trial.score for trial in own)
        assert len(kept[dataset]["trials"]) == 3


def test_every_trial_is_measured_with_all_seeds(tmp_path: Path) -> None:
    seen: list[tuple[str, int]] = []

    def judge(job: Job) -> float:
        seen.append((job.dataset, job.seed))
        return 0.0

    next(search(PLAN, tmp_path / "plan.json", judge))
    assert seen == [("synthetic", 0), ("synthetic", 1)]


def test_a_search_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    place = tmp_path / "plan.json"
    first = search(PLAN, place, wants_three)
    begun = [next(first) for _ in range(4)]
    done = trials_so_far(PLAN, place)
    assert [len(PLAN.untried(done[name])) for name in PLAN.datasets] == [0, 2]
    rest = list(search(PLAN, place, wants_three))
    assert len(rest) == 2
    kept = json.loads(place.read_text())["datasets"]["gentoo"]["trials"]
    assert [Trial(**trial) for trial in kept] == [trial for _, trial in [*begun[3:], *rest]]
    assert list(search(PLAN, place, wants_three)) == []


def test_no_values_are_tried_twice_and_all_datasets_try_the_same(tmp_path: Path) -> None:
    plan = replace(PLAN, trials=9)
    trials = list(search(plan, tmp_path / "plan.json", wants_three))
    own = [[trial.parameters for name, trial in trials if name == one] for one in plan.datasets]
    assert own[0] == own[1]
    assert sorted(one["hops"] for one in own[0]) == [0, 1, 2, 3]


def test_the_defaults_are_tried_first_even_if_no_list_has_them(tmp_path: Path) -> None:
    plan = replace(PLAN, space={"hops": [0, 1]}, datasets=("synthetic",))
    assert SGCMean().hops not in plan.space["hops"]
    trials = [
        trial.parameters["hops"] for _, trial in search(plan, tmp_path / "plan.json", any_score)
    ]
    assert trials[0] == SGCMean().hops
    assert sorted(trials[1:]) == [0, 1]


def test_values_at_the_edge_of_their_list_are_named() -> None:
    space: dict[str, list[Any]] = {
        "hops": [0, 3, 2],
        "idf": [False, True],
        "how": ["a", "b"],
        "one": [1],
    }
    plan = replace(PLAN, space=space)
    values = {"idf": True, "how": "a", "one": 1}
    found = [plan.at_edge({"hops": hops, **values}) for hops in (0, 2, 3, 9)]
    assert found == [{"hops": 0}, {}, {"hops": 3}, {"hops": 9}]


def test_trials_of_other_seeds_are_not_mixed_in(tmp_path: Path) -> None:
    place = tmp_path / "plan.json"
    list(search(PLAN, place, wants_three))
    with pytest.raises(ParameterError, match=r"trials with seeds \[0, 1\], the plan has \[2\]"):
        list(search(replace(PLAN, seeds=(2,)), place, wants_three))


@pytest.mark.parametrize("text", ["method = ", 'method = "x"', "seeds = [0]\ndatasets = []\n"])
def test_a_wrong_file_says_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(ParameterError, match="can't be read as a search"):
        Search.read(tmp_path / "plan.toml")


def test_wrong_values_say_so(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="space"):
        replace(PLAN, space={"hops": 3})  # type: ignore[dict-item]
    plan = replace(PLAN, space={"hops": []})
    with pytest.raises(ParameterError, match="hops in a search needs at least one value"):
        next(search(plan, tmp_path / "plan.json", wants_three))


def test_a_search_on_nothing_says_so() -> None:
    with pytest.raises(ParameterError, match="at least one dataset"):
        replace(PLAN, seeds=())
