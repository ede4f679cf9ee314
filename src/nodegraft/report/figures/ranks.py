"""A figure of which methods differ by more than chance: mean ranks over graphs and seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from nodegraft.report.figures.canvas.drawing import GREY, PAPER, figure_style, panel
from nodegraft.report.figures.canvas.picture import Picture
from nodegraft.report.figures.canvas.styles import DEFAULT_STYLE, Styles
from nodegraft.report.groups import (
    LAST_ACCURACY,
    Groups,
    Record,
    by_method,
    comparable_groups,
    datasets,
    ranking,
    run_counts,
)

SIGNIFICANCE_LEVEL = 0.05
# In inches: a row, and the axis below all of them.
LINE, MARGIN = 0.19, 0.9


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of methods over blocks, and what tests say of their differences."""

    names: tuple[str, ...]
    """The methods, best first."""

    mean_ranks: NDArray[np.float64]
    """The mean rank of each method; 1 is best."""

    p_values: NDArray[np.float64]
    """Of Wilcoxon's test of the best method against each, corrected by Holm; 1 for itself."""

    blocks: int
    """How many pairs of graph and seed were ranked."""

    graphs: int
    """How many graphs they are from."""

    critical_difference: float
    """Methods whose mean ranks are further apart than this differ by Nemenyi's test."""

    friedman_p: float
    """The p-value of Friedman's test that all methods are alike."""

    @property
    def tied_with_best(self) -> tuple[str, ...]:
        """The methods from which the best one does not differ significantly."""
        pairs = zip(self.names[1:], self.p_values[1:], strict=True)
        return tuple(name for name, p_value in pairs if p_value > SIGNIFICANCE_LEVEL)


def rank_methods(groups: Groups) -> Ranks | None:
    """Over all (dataset, seed) that every compared method has; None where that makes no test.

    Compared are the methods measured on every dataset, ceilings left out. With :math:`k` methods
    and :math:`n` blocks the critical difference is :math:`q \\sqrt{k (k + 1) / 6 n}`.

    Args:
        groups: The records, grouped; see group().
    """
    names, graphs = ranking(groups), datasets(comparable_groups(groups))
    blocks = [block for graph in graphs for block in _blocks(by_method(groups, graph), names)]
    if len(names) < 3 or len(blocks) < 2:
        return None
    scores = np.array(blocks)
    means = stats.rankdata(-scores, axis=1).mean(axis=0)
    quantile = stats.studentized_range.ppf(1 - SIGNIFICANCE_LEVEL, len(names), np.inf) / np.sqrt(2)
    critical = float(quantile * np.sqrt(len(names) * (len(names) + 1) / (6 * len(blocks))))
    friedman = float(stats.friedmanchisquare(*scores.T).pvalue)
    order = np.argsort(means, kind="stable")
    ordered = tuple(names[place] for place in order)
    p_values = _against_best(scores[:, order])
    return Ranks(ordered, means[order], p_values, len(blocks), len(graphs), critical, friedman)


def holm(p_values: Sequence[float]) -> list[float]:
    """Corrects for testing several times: p-values that may be read one by one (Holm, 1979).

    >>> [round(p_value, 3) for p_value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]

    Args:
        p_values: One for each test.
    """
    corrected, largest = [0.0] * len(p_values), 0.0
    for done, place in enumerate(np.argsort(p_values, kind="stable").tolist()):
        largest = max(largest, min(1.0, (len(p_values) - done) * p_values[place]))
        corrected[place] = largest
    return corrected


def _blocks(runs: Mapping[str, list[Record]], names: Sequence[str]) -> list[list[float]]:
    """The last accuracies of all methods, for each seed that all of them have."""
    found = [{run["seed"]: run["summary"][LAST_ACCURACY] for run in runs[name]} for name in names]
    shared = sorted(set.intersection(*map(set, found))) if found else []
    return [[one[seed] for one in found] for seed in shared]


def _against_best(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    differences = [scores[:, 0] - column for column in scores.T[1:]]
    without_ties = [one[one != 0] for one in differences]
    p_values = [float(stats.wilcoxon(one).pvalue) if one.size else 1.0 for one in without_ties]
    return np.array([1.0, *holm(p_values)])


@figure_style
def draw_ranks(groups: Groups, styles: Styles) -> list[Picture]:
    """A mark for each mean rank, on a bar as long as the critical difference.

    Args:
        groups: The records, grouped; see group().
        styles: Name of a method -> how it is drawn in the whole report.
    """
    found = rank_methods(groups)
    if found is None:
        return []
    size = (4.6, LINE * len(found.names) + MARGIN)
    figure, axes = panel("", "mean rank in the last session (1 is best)", size=size)
    rows = range(len(found.names))
    best, half = found.mean_ranks[0], found.critical_difference / 2
    axes.axvspan(best - half, best + half, color=GREY, alpha=0.2, lw=0)
    axes.hlines(rows, found.mean_ranks - half, found.mean_ranks + half, color=GREY, lw=1.5)
    for row, name, mean_rank in zip(rows, found.names, found.mean_ranks, strict=True):
        style = styles.get(name, DEFAULT_STYLE)
        inside = PAPER if name in found.tied_with_best else style.colour
        axes.plot(
            mean_rank, row, style.marker, color=style.colour, markerfacecolor=inside, markersize=5
        )
        axes.annotate(
            f"{mean_rank:.1f}",
            (1.0, row),
            xycoords=("axes fraction", "data"),
            va="center",
            ha="left",
        )
    axes.set_xticks(range(1, len(found.names) + 1, 1 if len(found.names) < 10 else 4))
    axes.set_yticks(rows, found.names)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(found.names) - 0.4, -0.6)
    return [Picture("all", _describe(found), figure, _caption(found, groups))]


def _caption(found: Ranks, groups: Groups) -> str:
    without = [name for name in run_counts(groups) if name not in found.names]
    lacking = f" Without records on some graph, so left out: {', '.join(without)}." * bool(without)
    return (
        f"{found.blocks} pairs of graph and seed from {found.graphs} graphs, all that every method "
        f"here has. {_test_text(found)} Nemenyi's critical difference is "
        f"{found.critical_difference:.2f} ranks. Friedman's test that all methods are alike: "
        f"p = {found.friedman_p:.1g}.{lacking}"
    )


def _test_text(found: Ranks) -> str:
    best, tied = found.names[0], ", ".join(found.tied_with_best)
    if tied:
        return (
            f"{best} does not differ significantly from {tied} (Wilcoxon's test with Holm's "
            "correction)."
        )
    largest = found.p_values[1:].max()
    return (
        f"{best} is ahead of each other method (Wilcoxon's test, Holm's correction: "
        f"p ≤ {largest:.1g})."
    )


def _describe(found: Ranks) -> str:
    pairs = zip(found.names, found.mean_ranks, strict=True)
    order = ", ".join(f"{name} {mean_rank:.1f}" for name, mean_rank in pairs)
    return (
        f"Mean ranks over {found.blocks} pairs of graph and seed ({found.graphs} graphs): {order}. "
        f"{_test_text(found)} Ranks that differ by more than {found.critical_difference:.2f} "
        "differ at the 5 % level by Nemenyi's test."
    )
