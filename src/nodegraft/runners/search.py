"""Hyper-parameters chosen on validation classes: Optuna proposes, rehearsals judge."""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nodegraft.base.errors import ParameterError
from nodegraft.base.extras import extra
from nodegraft.benchmark.job import Job

with extra("tune", package="optuna", purpose="Searching"):
    import optuna

Judge = Callable[[Job], float]


@dataclass(frozen=True)
class Trial:
    """Values tried and the score they got, between 0 and 1."""

    parameters: dict[str, Any]
    score: float


@dataclass(frozen=True, kw_only=True)
class Search:
    """What is searched for: a method's fields, judged on rehearsals of some datasets and seeds.

    ``space`` gives for each field a list to choose from, or ``{low, high, log}``.
    """

    method: str
    datasets: tuple[str, ...]
    seeds: tuple[int, ...]
    trials: int
    space: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not self.datasets or not self.seeds:
            raise ParameterError("A search needs at least one dataset and one seed.")

    @classmethod
    def read(cls, path: str | Path) -> "Search":
        """From a TOML file; see ``experiments/search/``."""
        try:
            document = tomllib.loads(Path(path).read_text())
            document["datasets"] = tuple(document["datasets"])
            document["seeds"] = tuple(document["seeds"])
            return cls(**document)
        except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
            raise ParameterError(f"{path} can't be read as a search: {error}") from error

    def jobs(self, parameters: Mapping[str, Any]) -> list[Job]:
        """The rehearsals that judge some values; novel classes have no part in them."""
        return [
            Job(dataset=name, method=self.method, seed=seed, parameters=parameters, rehearse=True)
            for name in self.datasets
            for seed in self.seeds
        ]


def search(plan: Search, place: Path, judge: Judge) -> Iterator[Trial]:
    """Try values until the plan's trials are done; ``place`` keeps them, so a cut costs one trial.

    The score is the mean over rehearsals; the file says which values were best.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {name: _distribution(name, choice) for name, choice in plan.space.items()}
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    done = _read(place)
    for trial in done:
        study.add_trial(
            optuna.trial.create_trial(
                params=trial.parameters, distributions=space, value=trial.score
            )
        )
    if not done:
        # What stands today is tried first: a search should say whether it found anything better.
        model = plan.jobs({})[0].model()
        today = {name: getattr(model, name) for name in space}
        if all(_allows(plan.space[name], value) for name, value in today.items()):
            study.enqueue_trial(today)
    while len(done) < plan.trials:
        proposed = study.ask(space)
        scores = [judge(job) for job in plan.jobs(proposed.params)]
        trial = Trial(dict(proposed.params), float(np.mean(scores)))
        study.tell(proposed, trial.score)
        done.append(trial)
        _write(place, plan, done)
        yield trial


def best(trials: list[Trial]) -> Trial:
    """The first of those with the highest score."""
    return max(trials, key=lambda trial: trial.score)


def _allows(choice: Any, value: Any) -> bool:
    if isinstance(choice, list):
        return value in choice
    return bool(choice["low"] <= value <= choice["high"])


def _distribution(name: str, choice: Any) -> optuna.distributions.BaseDistribution:
    if isinstance(choice, list):
        return optuna.distributions.CategoricalDistribution(choice)
    if not isinstance(choice, dict) or not {"low", "high"} <= set(choice):
        raise ParameterError(f"{name} in a search is a list or a table with low and high.")
    whole = isinstance(choice["low"], int) and isinstance(choice["high"], int)
    kind: Any = optuna.distributions.FloatDistribution
    return kind(**choice) if not whole else optuna.distributions.IntDistribution(**choice)


def _read(place: Path) -> list[Trial]:
    if not place.exists():
        return []
    return [Trial(**trial) for trial in json.loads(place.read_text())["trials"]]


def _write(place: Path, plan: Search, trials: list[Trial]) -> None:
    document = {
        "method": plan.method,
        "datasets": list(plan.datasets),
        "seeds": list(plan.seeds),
        "best": vars(best(trials)),
        "trials": [vars(trial) for trial in trials],
    }
    draft = place.with_suffix(".draft")
    draft.write_text(json.dumps(document, indent=2) + "\n")
    draft.replace(place)
