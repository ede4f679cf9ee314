"""Figures of what refusing helps: errors left among the answers a method is surest of."""

from collections.abc import Mapping

import numpy as np

from nodegraft.report.figures.canvas.drawing import GREY, house_style, panel
from nodegraft.report.figures.canvas.label_places import label_ends
from nodegraft.report.figures.canvas.picture import Picture
from nodegraft.report.figures.canvas.styles import Look, highlighted_styles
from nodegraft.report.groups import Groups, Record, by_method, compared, datasets


@house_style
def risk_coverage(groups: Groups) -> list[Picture]:
    """Errors in the last session over the share of nodes answered, for each dataset."""
    looks = highlighted_styles(groups)
    return [_picture(groups, dataset, looks) for dataset in datasets(compared(groups))]


def risks(runs: list[Record]) -> dict[float, float]:
    """Nodes answered -> wrong answers among them, both in percent.

    >>> risks([{"sessions": [{"accuracy_at_coverage": {"0.50": 0.9, "1.00": 0.75}}]}])
    {50.0: 10.0, 100.0: 25.0}
    """
    found = [run["sessions"][-1]["accuracy_at_coverage"] for run in runs]
    wrong = {
        coverage: 100 - 100 * float(np.mean([one[coverage] for one in found]))
        for coverage in found[0]
    }
    return {100 * float(coverage): round(share, 6) for coverage, share in wrong.items()}


def _picture(groups: Groups, dataset: str, looks: Mapping[str, Look]) -> Picture:
    found = {name: risks(runs) for name, runs in by_method(groups, dataset).items()}
    figure, axes = panel(
        dataset, "nodes answered, surest first, %", "last session: wrong answers, %"
    )
    for name in [name for name in found if name not in looks]:
        axes.plot(*zip(*found[name].items(), strict=True), color=GREY, lw=0.6, alpha=0.6, zorder=1)
    ends = {}
    for name, look in looks.items():
        if name in found:
            answered, wrong = zip(*found[name].items(), strict=True)
            axes.plot(
                answered, wrong, look.dashes, color=look.colour, marker=look.marker, markersize=3.5
            )
            ends[name] = (answered[-1], wrong[-1], look.colour)
    axes.set_ylim(bottom=0.0)
    label_ends(axes, ends)
    return Picture(dataset, _words(dataset, found), figure)


def _words(dataset: str, found: Mapping[str, Mapping[float, float]]) -> str:
    ranked = sorted(found, key=lambda name: list(found[name].values())[-1])
    parts = []
    for name in ranked:
        (few, least), *_, (_, most) = found[name].items()
        parts.append(f"{name} {most:.1f} %, of the surest {few:.0f} % {least:.1f} %")
    return f"Wrong answers on {dataset} in the last session, of all: {'; '.join(parts)}."
