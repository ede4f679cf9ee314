"""Recommendation of a method, with the numbers that justify it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nodegraft.analysis.own_labels.comparison import Estimate
from nodegraft.evaluation.protocol import UPPER_REFERENCE
from nodegraft.lab.report.groups import (
    Groups,
    by_method,
    comparable_groups,
    datasets,
    mean,
    mean_over_datasets,
    median_seconds,
    points_ahead,
    ranking,
)


@dataclass(frozen=True)
class Lead:
    """Lead of one method over another on one dataset, paired by seed."""

    dataset: str
    """Name of the dataset."""

    first: str
    """Name of the method that is ahead."""

    second: str
    """Name of the method that `first` is compared with."""

    lead: Estimate
    """Lead after the last session, in points. With 0 seeds it is a difference of unpaired means."""

    @property
    def is_significant(self) -> bool:
        """Whether the 95 % interval of the lead is above zero."""
        return self.lead.seeds > 1 and self.lead.mean > self.lead.half_width

    def __str__(self) -> str:
        half_width = f" ± {self.lead.half_width:.1f}" if self.lead.seeds > 1 else ""
        return f"{self.lead.mean:.1f}{half_width} points"


@dataclass(frozen=True)
class Recommendation:
    """Ranking of methods over the datasets of a suite, by accuracy after the last session."""

    all_groups: Groups
    """All run records, including upper references, grouped by group()."""

    names: tuple[str, ...]
    """Names of the methods measured on every dataset, best first; at least two."""

    @cached_property
    def groups(self) -> Groups:
        """Groups of runs that may be compared, as :func:`comparable_groups` returns them."""
        return comparable_groups(self.all_groups)

    @property
    def graphs(self) -> list[str]:
        """Names of the datasets of the suite."""
        return datasets(self.groups)

    @property
    def winner(self) -> str:
        """Method with the best mean accuracy over datasets."""
        return self.names[0]

    @property
    def runner_up(self) -> str:
        """Method with the second-best mean accuracy over datasets."""
        return self.names[1]

    @cached_property
    def leads(self) -> list[Lead]:
        """For each dataset, the lead of the winner or of another method over the winner."""
        return [self._lead(dataset) for dataset in self.graphs]

    @property
    def wins(self) -> list[Lead]:
        """Leads of the winner over the best other method, on datasets where the winner is first."""
        return [lead for lead in self.leads if lead.first == self.winner]

    @property
    def losses(self) -> list[Lead]:
        """Leads over the winner, on datasets where another method is first."""
        return [lead for lead in self.leads if lead.first != self.winner]

    @property
    def cheaper(self) -> Mapping[str, str]:
        """Most accurate method with at most half of the winner's cost, for each kind of cost."""
        own = self.cost(self.winner)
        costs = {name: self.cost(name) for name in self.names[1:]}
        # To justify a lower accuracy, a method must save at least half of the cost.
        methods = {
            measure: next((name for name in costs if costs[name][measure] <= limit / 2), "")
            for measure, limit in own.items()
        }
        return {measure: name for measure, name in methods.items() if name}

    @property
    def upper_references(self) -> Mapping[str, Mapping[str, float]]:
        """Accuracy of upper references in percent, by method and dataset.

        Upper references are methods that get most labels of the new classes.
        """
        accuracies: dict[str, dict[str, float]] = {}
        for (dataset, name, protocol), runs in self.all_groups.items():
            if UPPER_REFERENCE in protocol:
                accuracies.setdefault(name, {})[dataset] = 100 * mean(runs)
        return accuracies

    def accuracy(self, name: str) -> float:
        """Return a method's mean accuracy over datasets after the last session, in percent."""
        return 100 * mean_over_datasets(self.groups, name)

    def gaps(self, name: str) -> tuple[float, float]:
        """Return the smallest and the largest lead of the winner over a method, in points."""
        runs = [by_method(self.groups, dataset) for dataset in self.graphs]
        leads = [100 * (mean(own[self.winner]) - mean(own[name])) for own in runs]
        return min(leads), max(leads)

    def cost(self, name: str) -> Mapping[str, float]:
        """Return mean costs over datasets.

        These are seconds of training, seconds of a session and megabytes of state.
        """
        runs = [by_method(self.groups, dataset)[name] for dataset in self.graphs]
        training, session = np.mean([median_seconds(own) for own in runs], axis=0)
        megabytes = mean_over_datasets(self.groups, name, "kept_bytes") / 1e6
        return {"training": float(training), "session": float(session), "kept": megabytes}

    def _lead(self, dataset: str) -> Lead:
        runs = by_method(self.groups, dataset)
        ranked = sorted(runs, key=lambda name: -mean(runs[name]))
        # If another method is first on this dataset, report the lead of this method over the
        # winner.
        first, second = ranked[0], self.winner if ranked[0] != self.winner else ranked[1]
        lead = points_ahead(runs[first], runs[second])
        unpaired = Estimate(100 * (mean(runs[first]) - mean(runs[second])), 0.0, 0)
        return Lead(dataset, first, second, lead or unpaired)


def recommend(groups: Groups) -> Recommendation | None:
    """Rank the methods; return None if fewer than two were measured on every dataset.

    >>> recommend({}) is None
    True
    """
    names = ranking(groups)
    return Recommendation(groups, tuple(names)) if len(names) > 1 else None
