"""Random search of hyper-parameters on validation classes, by rehearsals.

A few trials are not enough to predict which values are good. Therefore combinations are drawn at
random without repetition, and all datasets try the same combinations.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
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
    """Combination of hyper-parameters that was tried, and its score."""

    parameters: dict[str, Any]
    """Hyper-parameters by name."""

    score: float
    """Score of the combination, between 0 and 1."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """Plan of a hyper-parameter search by rehearsals, separate for each dataset."""

    method: str
    """Name of the method."""

    datasets: tuple[str, ...]
    """Names of the datasets; the best values are chosen separately for each."""

    seeds: tuple[NonNegativeInt, ...]
    """Seeds of the splits and of the method."""

    trials: PositiveInt
    """Maximum number of combinations tried on each dataset, including the defaults."""

    space: Mapping[str, list[Any]]
    """Hyper-parameter -> list of values to choose from."""

    arrival: Arrival
    """Arrival of nodes: which nodes are visible in each session."""

    def __post_init__(self) -> None:
        validate(self)
        if not self.datasets or not self.seeds:
            raise ParameterError("A search needs at least one dataset and one seed.")

    @classmethod
    def read(cls, path: str | Path) -> "Search":
        """Read a search plan from a TOML file.

        Args:
            path: TOML file of the plan; see ``experiments/search/`` for examples.
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
        """Return the rehearsal jobs that score a combination; they do not use novel classes."""
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

    def untried(self, trials: Sequence[Trial]) -> list[dict[str, Any]]:
        """Return the combinations that were not tried on a dataset yet, in order."""
        values = [trial.parameters for trial in trials]
        fresh = [proposal for proposal in self._proposals if proposal not in values]
        return fresh[: max(self.trials - len(trials), 0)]

    def at_edge(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the chosen numbers that are the smallest or largest of their choices.

        Better values may exist outside the choices.
        """
        at_edge: dict[str, Any] = {}
        for name, choices in self.space.items():
            value, numbers = parameters[name], [choice for choice in choices if _is_number(choice)]
            if _is_number(value) and len(numbers) > 1:
                at_edge |= {} if min(numbers) < value < max(numbers) else {name: value}
        return at_edge

    @cached_property
    def _proposals(self) -> list[dict[str, Any]]:
        """Defaults first, then all other combinations in a fixed random order."""
        model = self.jobs(self.datasets[0], {})[0].make_model()
        for name, choices in self.space.items():
            if name not in model.get_params():
                raise ParameterError(f"{self.method} has no parameter {name!r} to search.")
            if not choices:
                raise ParameterError(f"{name} in a search needs at least one value.")
        # The defaults are tried first, to show whether the search finds better values.
        default = {name: getattr(model, name) for name in self.space}
        grid = product(*self.space.values())
        every = [dict(zip(self.space, values, strict=True)) for values in grid]
        order = Seeds(0).generator("search").permutation(len(every))
        return [default, *(every[place] for place in order if every[place] != default)]


def search(plan: Search, place: Path, objective: Objective) -> Iterator[tuple[str, Trial]]:
    """Run the remaining trials on every dataset and yield each; an interruption loses one trial.

    The score of a trial is the mean over seeds. The file also stores the best trial per dataset.

    Args:
        place: File that stores the trials; it need not exist yet.
        objective: Function that runs a job and returns its score.
    """
    finished = trials_so_far(plan, place)
    for dataset, trials in finished.items():
        for parameters in plan.untried(trials):
            scores = [objective(job) for job in plan.jobs(dataset, parameters)]
            trials.append(Trial(parameters, float(np.mean(scores))))
            _write(place, plan, finished)
            yield dataset, trials[-1]


def trials_so_far(plan: Search, place: Path) -> dict[str, list[Trial]]:
    """Return the trials done on each dataset of the plan."""
    if not place.exists():
        return {name: [] for name in plan.datasets}
    try:
        document = json.loads(place.read_text())
        stored = {name: document["datasets"].get(name, {"trials": []}) for name in plan.datasets}
        trials = {name: [Trial(**trial) for trial in own["trials"]] for name, own in stored.items()}
        head = {name: document[name] for name in _head(plan)}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParameterError(f"{place} holds no search: move it away ({error!r}).") from error
    for name, value in _head(plan).items():
        if head[name] != value:
            raise ParameterError(
                f"{place} holds trials with {name} {head[name]}, the plan has {value}: scores "
                "of both cannot be compared. Move the file away to search again."
            )
    return trials


def best(trials: list[Trial]) -> Trial:
    """Return the first trial with the highest score."""
    return max(trials, key=lambda trial: trial.score)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _head(plan: Search) -> dict[str, Any]:
    """Return the fields that must be equal for all trials of a file."""
    return {
        "method": plan.method,
        "arrival": plan.arrival,
        "seeds": list(plan.seeds),
        "stream_version": STREAM_VERSION,
    }


def _write(place: Path, plan: Search, trials: Mapping[str, list[Trial]]) -> None:
    document = {
        **_head(plan),
        "datasets": {
            name: {"best": vars(best(trials)), "trials": [vars(trial) for trial in trials]}
            for name, trials in trials.items()
            if trials
        },
    }
    draft = place.with_suffix(".draft")
    draft.write_text(json.dumps(document, indent=1) + "\n")
    draft.replace(place)
