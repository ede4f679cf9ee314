"""Hyper-parameters chosen on validation classes, by rehearsals.

With a handful of trials a model of which values might be good has nothing to go on: combinations
are drawn, none twice, and all datasets try the same ones.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.build import build
from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveInt
from nodegraft.base.parameters.validate import validate
from nodegraft.base.seeds import Seeds
from nodegraft.lab.benchmark.job import Job
from nodegraft.streams.arrival import Arrival
from nodegraft.streams.stream import STREAM_VERSION

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
    """How many sets of values are tried on each dataset at most, today's among them."""

    space: Mapping[str, list[Any]]
    """For each hyper-parameter a list to choose from."""

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
    proposals = _proposals(plan)
    done = {name: _read(place, name) for name in plan.datasets}
    for dataset, trials in done.items():
        tried = [trial.parameters for trial in trials]
        fresh = (parameters for parameters in proposals if parameters not in tried)
        for parameters in islice(fresh, max(plan.trials - len(trials), 0)):
            scores = [objective(job) for job in plan.jobs(dataset, parameters)]
            trials.append(Trial(parameters, float(np.mean(scores))))
            _write(place, plan, done)
            yield dataset, trials[-1]


def _proposals(plan: Search) -> list[dict[str, Any]]:
    """What stands today, then all other combinations in an order drawn once for all."""
    model = plan.jobs(plan.datasets[0], {})[0].make_model()
    for name, choices in plan.space.items():
        if name not in model.get_params():
            raise ParameterError(f"{plan.method} has no parameter {name!r} to search.")
        if not choices:
            raise ParameterError(f"{name} in a search needs at least one value.")
    # A search should say whether it found anything better than what stands today.
    today = {name: _today(choices, getattr(model, name)) for name, choices in plan.space.items()}
    every = [dict(zip(plan.space, values, strict=True)) for values in product(*plan.space.values())]
    order = Seeds(0).generator("search").permutation(len(every))
    return [today, *(every[place] for place in order if every[place] != today)]


def best(trials: list[Trial]) -> Trial:
    """The first of those with the highest score.

    Args:
        trials: At least one.
    """
    return max(trials, key=lambda trial: trial.score)


def _today(choices: list[Any], value: Any) -> Any:
    """What stands today, or the first value if the search does not allow it."""
    return value if value in choices else choices[0]


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
