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
from nodegraft.base.parameters.build import build
from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveInt
from nodegraft.base.parameters.validate import validate
from nodegraft.benchmark.job import Job
from nodegraft.streams.stream import Arrival

with extra("tune", package="optuna", purpose="Searching"):
    import optuna

Objective = Callable[[Job], float]


@dataclass(frozen=True)
class Trial:
    """Values that were tried."""

    parameters: dict[str, Any]
    """Hyper-parameters by name."""

    score: float
    """What they reached, between 0 and 1."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """What is searched for: hyper-parameters, judged on rehearsals of some datasets and seeds."""

    method: str
    """The name of the method."""

    datasets: tuple[str, ...]
    """The names of the datasets."""

    seeds: tuple[NonNegativeInt, ...]
    """Draw the splits and start the method."""

    trials: PositiveInt
    """How many sets of values are tried."""

    space: Mapping[str, Any]
    """For each hyper-parameter a list to choose from, or ``{low, high, log}``."""

    arrival: Arrival
    """Which nodes exist in a session."""

    def __post_init__(self) -> None:
        validate(self)
        if not self.datasets or not self.seeds:
            raise ParameterError("A search needs at least one dataset and one seed.")

    @classmethod
    def read(cls, path: str | Path) -> "Search":
        """From a TOML file.

        Args:
            path: The file; see ``experiments/search/``.
        """
        try:
            document = tomllib.loads(Path(path).read_text())
            for name in ("datasets", "seeds"):
                if isinstance(document.get(name), list):
                    document[name] = tuple(document[name])
            return build(cls, document)
        except (OSError, tomllib.TOMLDecodeError, ParameterError) as error:
            raise ParameterError(f"{path} can't be read as a search: {error}") from error

    def jobs(self, parameters: Mapping[str, Any]) -> list[Job]:
        """The rehearsals that judge some values; novel classes have no part in them.

        Args:
            parameters: The values.
        """
        return [
            Job(
                dataset=name,
                method=self.method,
                seed=seed,
                parameters=parameters,
                arrival=self.arrival,
                rehearse=True,
            )
            for name in self.datasets
            for seed in self.seeds
        ]


def search(plan: Search, place: Path, objective: Objective) -> Iterator[Trial]:
    """Try values until the plan's trials are done; a cut costs one trial.

    The score is the mean over rehearsals; the file says which values were best.

    Args:
        plan: What is searched for.
        place: The file that keeps the trials.
        objective: Runs one rehearsal and scores it.
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
        model = plan.jobs({})[0].make_model()
        today = {name: getattr(model, name) for name in space}
        if all(_allows(plan.space[name], value) for name, value in today.items()):
            study.enqueue_trial(today)
    while len(done) < plan.trials:
        proposed = study.ask(space)
        scores = [objective(job) for job in plan.jobs(proposed.params)]
        trial = Trial(dict(proposed.params), float(np.mean(scores)))
        study.tell(proposed, trial.score)
        done.append(trial)
        _write(place, plan, done)
        yield trial


def best(trials: list[Trial]) -> Trial:
    """The first of those with the highest score.

    Args:
        trials: At least one.
    """
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
