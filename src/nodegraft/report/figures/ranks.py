"""A figure of which methods can be told apart: mean ranks over graphs and seeds, and tests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from nodegraft.report.figures.canvas.drawing import BLUE, GREY, house_style, panel
from nodegraft.report.figures.canvas.picture import Picture
from nodegraft.report.groups import (
    LAST,
    Groups,
    Record,
    by_method,
    compared,
    counts,
    datasets,
    standing,
)

LEVEL = 0.05
LINE, MARGIN = 0.19, 0.9


@dataclass(frozen=True)
class Ranks:
    """Mean ranks over blocks, best first; means further apart than ``critical`` differ (Nemenyi).

    ``chances`` are those of Wilcoxon's test of the best against each, corrected by Holm.
    """

    names: tuple[str, ...]
    means: NDArray[np.float64]
    chances: NDArray[np.float64]
    blocks: int
    graphs: int
    critical: float
    friedman: float

    @property
    def like_best(self) -> tuple[str, ...]:
        """Those that the best one cannot be told from."""
        pairs = zip(self.names[1:], self.chances[1:], strict=True)
        return tuple(name for name, chance in pairs if chance > LEVEL)


def rank(groups: Groups) -> Ranks | None:
    """Over all (dataset, seed) that every compared method has; None where that makes no test.

    Compared are the methods measured on every dataset, ceilings left out. With :math:`k` methods
    and :math:`n` blocks the critical difference is :math:`q \\sqrt{k (k + 1) / 6 n}`.
    """
    names, places = standing(groups), datasets(compared(groups))
    blocks = [block for dataset in places for block in _blocks(by_method(groups, dataset), names)]
    if len(names) < 3 or len(blocks) < 2:
        return None
    scores = np.array(blocks)
    means = stats.rankdata(-scores, axis=1).mean(axis=0)
    quantile = stats.studentized_range.ppf(1 - LEVEL, len(names), np.inf) / np.sqrt(2)
    critical = float(quantile * np.sqrt(len(names) * (len(names) + 1) / (6 * len(blocks))))
    friedman = float(stats.friedmanchisquare(*scores.T).pvalue)
    order = np.argsort(means, kind="stable")
    ordered = tuple(names[place] for place in order)
    chances = _against_best(scores[:, order])
    return Ranks(ordered, means[order], chances, len(blocks), len(places), critical, friedman)


def holm(chances: Sequence[float]) -> list[float]:
    """Chances of several tests together, each as large as if it were the only one (Holm, 1979).

    >>> [round(chance, 3) for chance in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    corrected, largest = [0.0] * len(chances), 0.0
    for done, place in enumerate(np.argsort(chances, kind="stable").tolist()):
        largest = max(largest, min(1.0, (len(chances) - done) * chances[place]))
        corrected[place] = largest
    return corrected


def _blocks(runs: Mapping[str, list[Record]], names: Sequence[str]) -> list[list[float]]:
    """The last accuracies of all methods, for each seed that all of them have."""
    found = [{run["seed"]: run["summary"][LAST] for run in runs[name]} for name in names]
    shared = sorted(set.intersection(*map(set, found))) if found else []
    return [[one[seed] for one in found] for seed in shared]


def _against_best(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    differences = [scores[:, 0] - column for column in scores.T[1:]]
    moved = [one[one != 0] for one in differences]
    return np.array(
        [1.0, *holm([float(stats.wilcoxon(one).pvalue) if one.size else 1.0 for one in moved])]
    )


@house_style
def ranks(groups: Groups) -> list[Picture]:
    """A dot for each mean rank, on a bar as long as the critical difference."""
    found = rank(groups)
    if found is None:
        return []
    size = (4.6, LINE * len(found.names) + MARGIN)
    figure, axes = panel("", "mean rank in the last session (1 is best)", size=size)
    rows = range(len(found.names))
    half = found.critical / 2
    axes.axvspan(found.means[0] - half, found.means[0] + half, color=BLUE, alpha=0.12, lw=0)
    axes.hlines(rows, found.means - half, found.means + half, color=GREY, lw=1.5)
    axes.plot(found.means[0], 0, "D", color=BLUE, markersize=6)
    for row, mean, chance in list(zip(rows, found.means, found.chances, strict=True))[1:]:
        filled: Literal["none", "full"] = "none" if chance > LEVEL else "full"
        axes.plot(mean, row, "o", color=BLUE, markersize=5, fillstyle=filled)
    for row, mean in zip(rows, found.means, strict=True):
        axes.annotate(
            f"{mean:.1f}", (1.0, row), xycoords=("axes fraction", "data"), va="center", ha="left"
        )
    axes.set_xticks(range(1, len(found.names) + 1, 1 if len(found.names) < 10 else 4))
    axes.set_yticks(rows, found.names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(found.names) - 0.4, -0.6)
    return [Picture("all", _words(found), figure, _note(found, groups))]


def _note(found: Ranks, groups: Groups) -> str:
    without = [name for name in counts(groups) if name not in found.names]
    lacking = f" Without records on some graph, so left out: {', '.join(without)}." * bool(without)
    return (
        f"{found.blocks} pairs of graph and seed from {found.graphs} graphs, all that every method "
        f"here has. {_told_apart(found)} Nemenyi's critical difference is {found.critical:.2f} "
        f"ranks. Friedman's test that all methods are alike: p = {found.friedman:.1g}.{lacking}"
    )


def _told_apart(found: Ranks) -> str:
    best, alike = found.names[0], ", ".join(found.like_best)
    if alike:
        return f"{best} cannot be told from {alike} (Wilcoxon's test with Holm's correction)."
    most = found.chances[1:].max()
    return (
        f"{best} is ahead of each other one (Wilcoxon's test, Holm's correction: p ≤ {most:.1g})."
    )


def _words(found: Ranks) -> str:
    pairs = zip(found.names, found.means, strict=True)
    order = ", ".join(f"{name} {mean:.1f}" for name, mean in pairs)
    return (
        f"Mean ranks over {found.blocks} pairs of graph and seed ({found.graphs} graphs): {order}. "
        f"{_told_apart(found)} Ranks that differ by more than {found.critical:.2f} differ at the "
        "5 % level by Nemenyi's test."
    )
