"""A figure of which methods can be told apart: mean ranks with Nemenyi's critical difference."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from nodegraft.report.drawing import BLUE, GREY, house_style, panel
from nodegraft.report.groups import Groups, by_method, compared, counts, datasets, standing
from nodegraft.report.picture import Picture

LINE, MARGIN = 0.19, 0.9


@dataclass(frozen=True)
class Ranks:
    """Mean ranks over blocks; means further apart than ``critical`` differ at the 5 % level."""

    names: tuple[str, ...]
    means: NDArray[np.float64]
    blocks: int
    graphs: int
    critical: float
    friedman: float

    @property
    def with_best(self) -> tuple[str, ...]:
        """Those that cannot be told from the first one."""
        near = self.means - self.means[0] <= self.critical
        return tuple(name for name, is_near in zip(self.names, near, strict=True) if is_near)[1:]


def rank(groups: Groups) -> Ranks | None:
    """Over all (dataset, seed) that every compared method has; None where that makes no test.

    Compared are the methods measured on every dataset, ceilings left out. With :math:`k` methods
    and :math:`n` blocks the critical difference is :math:`q \\sqrt{k (k + 1) / 6 n}`.
    """
    names, places = standing(groups), datasets(compared(groups))
    blocks = []
    for dataset in places:
        runs = by_method(groups, dataset)
        found = [{run["seed"]: run["summary"]["last_accuracy"] for run in runs[n]} for n in names]
        shared = sorted(set.intersection(*map(set, found))) if found else []
        blocks += [[one[seed] for one in found] for seed in shared]
    if len(names) < 3 or len(blocks) < 2:
        return None
    scores = np.array(blocks)
    means = stats.rankdata(-scores, axis=1).mean(axis=0)
    quantile = stats.studentized_range.ppf(0.95, len(names), np.inf) / np.sqrt(2)
    critical = quantile * np.sqrt(len(names) * (len(names) + 1) / (6 * len(blocks)))
    chance = stats.friedmanchisquare(*scores.T).pvalue
    order = np.argsort(means, kind="stable")
    ordered = tuple(names[place] for place in order)
    return Ranks(ordered, means[order], len(blocks), len(places), float(critical), float(chance))


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
    axes.plot(found.means, rows, "o", color=BLUE, markersize=5)
    for row, mean in zip(rows, found.means, strict=True):
        axes.annotate(
            f"{mean:.1f}", (1.0, row), xycoords=("axes fraction", "data"), va="center", ha="left"
        )
    axes.set_xticks(range(1, len(found.names) + 1))
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
        f"here has. Critical difference: {found.critical:.2f} ranks. Friedman's test that all are "
        f"alike: p = {found.friedman:.1g}.{lacking}"
    )


def _words(found: Ranks) -> str:
    pairs = zip(found.names, found.means, strict=True)
    order = ", ".join(f"{name} {mean:.1f}" for name, mean in pairs)
    same = ", ".join(found.with_best)
    apart = f"cannot be told from {same}" if same else "is apart from all others"
    return (
        f"Mean ranks over {found.blocks} pairs of graph and seed ({found.graphs} graphs): {order}. "
        f"Ranks that differ by more than {found.critical:.2f} differ at the 5 % level (Nemenyi); "
        f"{found.names[0]} {apart}. Friedman's test: p = {found.friedman:.2g}."
    )
