"""The first screen: which method to use, and why, as far as the records say so."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nodegraft.evaluation.metrics import interval
from nodegraft.evaluation.protocol import UPPER_REFERENCE
from nodegraft.lab.report.figures.styles import PAPERS_METHOD
from nodegraft.lab.report.groups import (
    Groups,
    by_method,
    comparable_groups,
    datasets,
    mean,
    mean_over_datasets,
    median_seconds,
    paired_differences,
    ranking,
)

UNCORRECTED = (
    "The winner was chosen among several methods, and these intervals are not corrected for "
    "multiple comparisons."
)


@dataclass(frozen=True)
class Lead:
    """On one dataset: the first method, how far ahead of another, and how sure that is."""

    dataset: str
    """The name of the dataset."""

    first: str
    """The method that is ahead."""

    second: str
    """The method that it is compared with."""

    points: float
    """The difference of their accuracies after the last session, in percentage points."""

    half_width: float
    """Half the width of the difference's 95 % interval over seeds, in points."""

    seeds: int
    """How many seeds both methods have; 0 if none, then the difference is not paired."""

    @property
    def is_significant(self) -> bool:
        """Whether the 95 % interval of the difference leaves out zero."""
        return self.seeds > 1 and self.points > self.half_width

    def __str__(self) -> str:
        return (
            f"{self.points:.1f} ± {self.half_width:.1f} points"
            if self.seeds > 1
            else f"{self.points:.1f} points"
        )


@dataclass(frozen=True)
class Recommendation:
    """Which method is best over the datasets of a suite, by the last session."""

    groups: Groups
    """The comparable records, grouped; see group()."""

    names: tuple[str, ...]
    """The methods measured on every dataset, best first, at least two."""

    @property
    def winner(self) -> str:
        """The method with the best mean over datasets."""
        return self.names[0]

    @property
    def runner_up(self) -> str:
        """The second best."""
        return self.names[1]

    @property
    def leads(self) -> list[Lead]:
        """Which method is first on each dataset, and the lead over the best other method."""
        return [self._lead(dataset) for dataset in datasets(self.groups)]

    def _lead(self, dataset: str) -> Lead:
        runs = by_method(self.groups, dataset)
        ranked = sorted(runs, key=lambda name: -mean(runs[name]))
        # If the winner is not first here, what matters is how far it is behind.
        first, second = ranked[0], self.winner if ranked[0] != self.winner else ranked[1]
        return paired_lead(dataset, first, second, self.groups)

    def cost(self, name: str) -> dict[str, float]:
        """Means over datasets: seconds of training and of a session, megabytes kept.

        Args:
            name: One of the ranked methods.
        """
        found = [by_method(self.groups, dataset)[name] for dataset in datasets(self.groups)]
        training, session = np.mean([median_seconds(runs) for runs in found], axis=0)
        return {
            "trains": float(training),
            "learns a session": float(session),
            "keeps": mean_over_datasets(self.groups, name, "kept_bytes") / 1e6,
        }


def paired_lead(dataset: str, first: str, second: str, groups: Groups) -> Lead:
    """How far one method is ahead of another, paired by seed.

    >>> runs = [{"seed": 0, "summary": {"last_accuracy": a}} for a in (0.5, 0.25)]
    >>> groups = {("gentoo", n, "strict"): [run] for n, run in zip("ab", runs)}
    >>> print(paired_lead("gentoo", "a", "b", groups))
    25.0 points

    Args:
        dataset: The name of the dataset.
        first: The method that is ahead.
        second: The method that it is compared with.
        groups: The records, grouped; see group().
    """
    runs = by_method(groups, dataset)
    more = 100 * np.array(paired_differences(runs[second], runs[first]))
    points = float(more.mean()) if more.size else 100 * (mean(runs[first]) - mean(runs[second]))
    return Lead(dataset, first, second, points, interval(more), int(more.size))


def recommend(groups: Groups) -> Recommendation | None:
    """None if fewer than two methods were measured on every dataset.

    >>> recommend({}) is None
    True

    Args:
        groups: The records, grouped; see group().
    """
    names = ranking(groups)
    return Recommendation(comparable_groups(groups), tuple(names)) if len(names) > 1 else None


def reason_text(recommendation: Recommendation) -> str:
    """How the winner compares with the paper's method and the runner-up, and its seconds.

    Args:
        recommendation: What to give the reason for.
    """
    winner, second, groups = recommendation.winner, recommendation.runner_up, recommendation.groups
    graphs = datasets(groups)
    wins = sum(lead.first == winner for lead in recommendation.leads)
    where = (
        f"all {len(graphs)} graphs" if wins == len(graphs) else f"{wins} of {len(graphs)} graphs"
    )
    over = ", mean over graphs"
    if len(graphs) == 1:
        where, over = graphs[0], ""
    others = [f"{_share(groups, second)} for **{second}**, the runner-up"]
    if PAPERS_METHOD in recommendation.names[1:]:
        role = "the paper's method" + (" and the runner-up" if second == PAPERS_METHOD else "")
        others = others * (second != PAPERS_METHOD)
        others.insert(0, f"{_share(groups, PAPERS_METHOD)} for **{PAPERS_METHOD}**, {role}")
    cost = recommendation.cost(winner)
    return (
        f"**{winner}** is the most accurate method on {where}: after the last session it "
        f"classifies {_share(groups, winner)} of nodes correctly, against {', and '.join(others)} "
        f"(macro accuracy{over}). "
        "It learns a session of new classes and answers all that is asked then in "
        f"{_number(cost['learns a session'])} s, after {_number(cost['trains'])} s of training."
    )


def certainty_text(recommendation: Recommendation) -> str:
    """One sentence: on which graphs the winner's lead is more than chance.

    Args:
        recommendation: Whose winner it is about.
    """
    winner = recommendation.winner
    ahead = [lead for lead in recommendation.leads if lead.first == winner]
    if not ahead:
        return "It is first on no graph by itself, but best on average."
    leads = "; ".join(f"{lead} over {lead.second} on {lead.dataset}" for lead in ahead)
    significant = sum(lead.is_significant for lead in ahead)
    if len(recommendation.leads) == 1:
        size = "larger" if significant else "not larger"
        text = f"Its lead is {size} than its 95 % interval over seeds: {leads}."
    elif significant == len(ahead):
        text = f"Each lead is larger than its 95 % interval over seeds: {leads}."
    else:
        count = f"{significant} of its {len(ahead)} leads"
        text = f"{count} are larger than their 95 % interval: {leads}."
    return f"{text} {UNCORRECTED}"


def alternative_texts(recommendation: Recommendation) -> list[str]:
    """A sentence for each case in which another method is better, if the records show one.

    Args:
        recommendation: Whose winner is compared with the other methods.
    """
    return [*_where_others_lead(recommendation), *_where_others_cost_less(recommendation)]


def upper_reference_text(groups: Groups) -> str:
    """What can be reached with many labels, on the datasets where that was measured.

    Args:
        groups: The records, grouped; see group().
    """
    reached: dict[str, list[str]] = {}
    for (dataset, name, protocol), runs in groups.items():
        if UPPER_REFERENCE in protocol:
            reached.setdefault(name, []).append(f"{100 * mean(runs):.1f} % on {dataset}")
    return " ".join(
        f"For scale: **{name}**, given most labels of every new class instead of a handful, "
        f"reaches {', '.join(shares)}."
        for name, shares in reached.items()
    )


def _where_others_lead(recommendation: Recommendation) -> Iterator[str]:
    for lead in recommendation.leads:
        if lead.first != recommendation.winner:
            chance = "" if lead.is_significant else " (which may be chance)"
            yield f"On graphs like {lead.dataset}: **{lead.first}** is ahead by {lead}{chance}."


def _where_others_cost_less(recommendation: Recommendation) -> Iterator[str]:
    reasons = {
        "trains": ("If the first training must be faster", "s"),
        "learns a session": ("If a session must be learned faster", "s"),
        "keeps": ("If the model must be smaller", "MB"),
    }
    winner, groups = recommendation.winner, recommendation.groups
    own = recommendation.cost(winner)
    for cost, (reason, unit) in reasons.items():
        # The most accurate one that needs half or less: smaller savings are worth no points.
        cheap = (
            n for n in recommendation.names[1:] if recommendation.cost(n)[cost] <= own[cost] / 2
        )
        name = next(cheap, None)
        if name:
            less = 100 * (mean_over_datasets(groups, winner) - mean_over_datasets(groups, name))
            yield (
                f"{reason}: **{name}** {cost} {_in(cost)}"
                f"{_number(recommendation.cost(name)[cost])} {unit} "
                f"({winner}: {_number(own[cost])} {unit}), but is {less:.1f} points less accurate."
            )


def _in(cost: str) -> str:
    return "" if cost == "keeps" else "in "


def _share(groups: Groups, name: str) -> str:
    return f"{100 * mean_over_datasets(groups, name):.1f} %"


def _number(value: float) -> str:
    if value >= 10:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"
