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
from nodegraft.streams.arrival import Arrival
from nodegraft.streams.stream import STREAM_VERSION

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
    """What is searched for: hyper-parameters, for each dataset by itself, on rehearsals."""

    method: str
    """The name of the method."""

    datasets: tuple[str, ...]
    """The names of the datasets; each gets values of its own."""

    seeds: tuple[NonNegativeInt, ...]
    """Draw the splits and start the method."""

    trials: PositiveInt
    """How many sets of values are tried on each dataset, today's among them."""

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
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ParameterError) as error:
            raise ParameterError(f"{path} can't be read as a search: {error}") from error

    def jobs(self, dataset: str, parameters: Mapping[str, Any]) -> list[Job]:
        """The rehearsals that values are measured by; novel classes have no part in them.

        Args:
            dataset: The name of a dataset.
            parameters: The values.
        """
        return [
            Job(
                dataset=dataset,
                method=self.method,
                seed=seed,
                parameters=parameters,
                arrival=self.arrival,
                rehearse=True,
            )
            for seed in self.seeds
        ]


def search(plan: Search, place: Path, objective: Objective) -> Iterator[tuple[str, Trial]]:
    """Try values until the plan's trials are done on every dataset; a cut costs one trial.

    The score is the mean over seeds; the file says which values were best on which dataset.

    Args:
        plan: What is searched for.
        place: The file that keeps the trials.
        objective: Runs one rehearsal and scores it.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {name: _distribution(name, choice) for name, choice in plan.space.items()}
    done = {name: _read(place, name) for name in plan.datasets}
    for dataset, trials in done.items():
        study = _study(plan, space, trials)
        while len(trials) < plan.trials:
            proposed = study.ask(space)
            scores = [objective(job) for job in plan.jobs(dataset, proposed.params)]
            trial = Trial(dict(proposed.params), float(np.mean(scores)))
            study.tell(proposed, trial.score)
            trials.append(trial)
            _write(place, plan, done)
            yield dataset, trial


def _study(plan: Search, space: Mapping[str, Any], trials: list[Trial]) -> "optuna.Study":
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    for trial in trials:
        study.add_trial(
            optuna.trial.create_trial(
                params=trial.parameters, distributions=dict(space), value=trial.score
            )
        )
    if not trials:
        # What stands today is tried first: a search should say whether it found anything better.
        model = plan.jobs(plan.datasets[0], {})[0].make_model()
        unknown = [name for name in space if name not in model.get_params()]
        if unknown:
            raise ParameterError(f"{plan.method} has no parameter {unknown[0]!r} to search.")
        today = {name: _today(plan.space[name], getattr(model, name)) for name in space}
        study.enqueue_trial(today)
    return study


def best(trials: list[Trial]) -> Trial:
    """The first of those with the highest score.

    Args:
        trials: At least one.
    """
    return max(trials, key=lambda trial: trial.score)


def _today(choice: Any, value: Any) -> Any:
    """What stands today, or the nearest to it that the search allows."""
    if isinstance(choice, list):
        return value if value in choice else choice[0]
    return min(max(value, choice["low"]), choice["high"])


def _distribution(name: str, choice: Any) -> optuna.distributions.BaseDistribution:
    if isinstance(choice, list) and choice:
        return optuna.distributions.CategoricalDistribution(choice)
    if not isinstance(choice, dict) or not {"low", "high"} <= set(choice):
        raise ParameterError(f"{name} in a search is a list or a table with low and high.")
    whole = isinstance(choice["low"], int) and isinstance(choice["high"], int)
    kinds = optuna.distributions
    kind: Any = kinds.IntDistribution if whole else kinds.FloatDistribution
    try:
        return kind(**choice)  # type: ignore[no-any-return]
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} in a search: {error}.") from error


def _read(place: Path, dataset: str) -> list[Trial]:
    if not place.exists():
        return []
    try:
        kept = json.loads(place.read_text())["datasets"].get(dataset, {"trials": []})
        return [Trial(**trial) for trial in kept["trials"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParameterError(f"{place} holds no search: move it away ({error!r}).") from error


def _write(place: Path, plan: Search, done: Mapping[str, list[Trial]]) -> None:
    document = {
        "method": plan.method,
        "arrival": plan.arrival,
        "seeds": list(plan.seeds),
        "stream_version": STREAM_VERSION,
        "datasets": {
            name: {"best": vars(best(trials)), "trials": [vars(trial) for trial in trials]}
            for name, trials in done.items()
            if trials
        },
    }
    draft = place.with_suffix(".draft")
    draft.write_text(json.dumps(document, indent=1) + "\n")
    draft.replace(place)
