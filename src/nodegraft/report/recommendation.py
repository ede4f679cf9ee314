"""The first screen: which method to use, and why, as far as the records say so."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nodegraft.evaluation.metrics import interval
from nodegraft.evaluation.protocol import CEILING
from nodegraft.report.figures.canvas.styles import PAPERS_METHOD
from nodegraft.report.groups import (
    Groups,
    average,
    by_method,
    compared,
    datasets,
    gains,
    mean,
    standing,
)
from nodegraft.report.groups import seconds as seconds_of


@dataclass(frozen=True)
class Lead:
    """On one dataset: the first method, how far ahead of another, and how sure that is (points)."""

    dataset: str
    first: str
    second: str
    points: float
    half: float
    seeds: int

    @property
    def is_sure(self) -> bool:
        """Whether the 95 % interval of the difference leaves out zero."""
        return self.seeds > 1 and self.points > self.half

    def __str__(self) -> str:
        return (
            f"{self.points:.1f} ± {self.half:.1f} points"
            if self.seeds > 1
            else f"{self.points:.1f} points"
        )


@dataclass(frozen=True)
class Recommendation:
    """Who is best over the datasets of a suite, by the last session."""

    groups: Groups
    names: tuple[str, ...]

    @property
    def winner(self) -> str:
        """The best mean over datasets."""
        return self.names[0]

    @property
    def leads(self) -> list[Lead]:
        """Who is first on each dataset, and the lead over the best other method."""
        return [self._lead(dataset) for dataset in datasets(self.groups)]

    def _lead(self, dataset: str) -> Lead:
        runs = by_method(self.groups, dataset)
        ranked = sorted(runs, key=lambda name: -mean(runs[name]))
        # If the winner is not first here, what matters is how far it is behind.
        first, second = ranked[0], self.winner if ranked[0] != self.winner else ranked[1]
        return lead(dataset, first, second, self.groups)

    def cost(self, name: str) -> dict[str, float]:
        """Means over datasets: seconds of training and of a session, megabytes kept."""
        found = [by_method(self.groups, dataset)[name] for dataset in datasets(self.groups)]
        training, session = np.mean([seconds_of(runs) for runs in found], axis=0)
        return {
            "trains": float(training),
            "learns a session": float(session),
            "keeps": average(self.groups, name, "kept_bytes") / 1e6,
        }


def lead(dataset: str, first: str, second: str, groups: Groups) -> Lead:
    """How far one method is ahead of another, paired by seed.

    >>> runs = [{"seed": 0, "summary": {"last_accuracy": a}} for a in (0.5, 0.25)]
    >>> groups = {("gentoo", n, "strict"): [run] for n, run in zip("ab", runs)}
    >>> print(lead("gentoo", "a", "b", groups))
    25.0 points
    """
    runs = by_method(groups, dataset)
    more = 100 * np.array(gains(runs[second], runs[first]))
    points = float(more.mean()) if more.size else 100 * (mean(runs[first]) - mean(runs[second]))
    return Lead(dataset, first, second, points, interval(more), int(more.size))


def judge(groups: Groups) -> Recommendation | None:
    """None if fewer than two methods were measured on every dataset.

    >>> judge({}) is None
    True
    """
    names = standing(groups)
    return Recommendation(compared(groups), tuple(names)) if len(names) > 1 else None


def why(verdict: Recommendation) -> str:
    """One sentence: the winner against the paper's method and the runner-up, and its seconds."""
    winner, second, groups = verdict.winner, verdict.names[1], verdict.groups
    graphs = datasets(groups)
    wins = sum(found.first == winner for found in verdict.leads)
    where = (
        f"all {len(graphs)} graphs" if wins == len(graphs) else f"{wins} of {len(graphs)} graphs"
    )
    others = [f"{_share(groups, second)} for **{second}**, the runner-up"]
    if PAPERS_METHOD in verdict.names[1:]:
        role = "the paper's method" + (" and the runner-up" if second == PAPERS_METHOD else "")
        others = others * (second != PAPERS_METHOD)
        others.insert(0, f"{_share(groups, PAPERS_METHOD)} for **{PAPERS_METHOD}**, {role}")
    cost = verdict.cost(winner)
    return (
        f"**{winner}** is the most accurate method on {where}: after the last session it names "
        f"{_share(groups, winner)} of nodes rightly, against {', and '.join(others)} (macro "
        "accuracy, mean over graphs). "
        f"It learns a session of new classes in {_number(cost['learns a session'])} s, after "
        f"{_number(cost['trains'])} s of training."
    )


def certainty(verdict: Recommendation) -> str:
    """One sentence: on which graphs the lead is more than chance."""
    winner = verdict.winner
    ahead = [found for found in verdict.leads if found.first == winner]
    if not ahead:
        return "It is first on no graph by itself, but best on average."
    told = "; ".join(f"{found} over {found.second} on {found.dataset}" for found in ahead)
    sure = sum(found.is_sure for found in ahead)
    if sure == len(ahead):
        return f"Each lead is larger than its 95 % interval over seeds: {told}."
    return f"{sure} of its {len(ahead)} leads are larger than their 95 % interval: {told}."


def exceptions(verdict: Recommendation) -> list[str]:
    """When to use something else, if the records say so."""
    return [*_where_others_lead(verdict), *_where_others_cost_less(verdict)]


def ceiling(groups: Groups) -> str:
    """What can be reached with many labels, on the datasets where that was measured."""
    told: dict[str, list[str]] = {}
    for (dataset, name, protocol), runs in groups.items():
        if CEILING in protocol:
            told.setdefault(name, []).append(f"{100 * mean(runs):.1f} % on {dataset}")
    return " ".join(
        f"For scale: **{name}**, given most labels of every new class instead of a handful, names "
        f"{', '.join(shares)}."
        for name, shares in told.items()
    )


def _where_others_lead(verdict: Recommendation) -> Iterator[str]:
    for found in verdict.leads:
        if found.first != verdict.winner:
            sure = "" if found.is_sure else " (which may be chance)"
            yield f"On graphs like {found.dataset}: **{found.first}** is ahead by {found}{sure}."


def _where_others_cost_less(verdict: Recommendation) -> Iterator[str]:
    reasons = {
        "trains": ("If the first training must be quicker", "s"),
        "learns a session": ("If a session must be learned quicker", "s"),
        "keeps": ("If the model must be smaller", "MB"),
    }
    mine = verdict.cost(verdict.winner)
    for cost, (reason, unit) in reasons.items():
        # The most accurate one that needs half or less: smaller savings are worth no points.
        cheap = (n for n in verdict.names[1:] if verdict.cost(n)[cost] <= mine[cost] / 2)
        name = next(cheap, None)
        if name:
            theirs = verdict.cost(name)[cost]
            less = 100 * (average(verdict.groups, verdict.winner) - average(verdict.groups, name))
            yield (
                f"{reason}: **{name}** {cost} {_in(cost)}{_number(theirs)} {unit} "
                f"({verdict.winner}: {_number(mine[cost])} {unit}), but is {less:.1f} points "
                "less accurate."
            )


def _in(cost: str) -> str:
    return "" if cost == "keeps" else "in "


def _share(groups: Groups, name: str) -> str:
    return f"{100 * average(groups, name):.1f} %"


def _number(value: float) -> str:
    if value >= 10:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"
