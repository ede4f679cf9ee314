"""Figures of what abstaining helps: errors left among the answers a method is surest of."""

from collections.abc import Mapping

import numpy as np

from nodegraft.analysis.rendering.drawing import GREY, figure_style, panel
from nodegraft.analysis.rendering.label_places import label_line_ends
from nodegraft.analysis.rendering.picture import Picture
from nodegraft.lab.report.figures.styles import Styles
from nodegraft.lab.report.groups import Groups, Record, by_method, comparable_groups, datasets


@figure_style
def draw_risk_coverage(groups: Groups, styles: Styles) -> list[Picture]:
    """Errors in the last session over the share of nodes answered, for each dataset.

    Args:
        groups: The records, grouped; see group().
        styles: Name of a method -> how it is drawn in the whole report.
    """
    return [_picture(groups, dataset, styles) for dataset in datasets(comparable_groups(groups))]


def error_by_coverage(runs: list[Record]) -> dict[float, float]:
    """Nodes answered -> wrong answers among them in the last session, both in percent.

    >>> error_by_coverage([{"sessions": [{"accuracy_at_coverage": {"0.50": 0.9, "1.00": 0.75}}]}])
    {50.0: 10.0, 100.0: 25.0}

    Args:
        runs: Records of runs, at least one.
    """
    found = [run["sessions"][-1]["accuracy_at_coverage"] for run in runs]
    wrong = {
        coverage: 100 - 100 * float(np.mean([one[coverage] for one in found]))
        for coverage in found[0]
    }
    return {100 * float(coverage): round(share, 6) for coverage, share in wrong.items()}


def _picture(groups: Groups, dataset: str, styles: Styles) -> Picture:
    errors = {name: error_by_coverage(runs) for name, runs in by_method(groups, dataset).items()}
    figure, axes = panel(
        dataset, "nodes answered, surest first, %", "last session: wrong answers, %"
    )
    ends = {}
    for name, found in errors.items():
        answered, wrong = zip(*found.items(), strict=True)
        if name in styles:
            style = styles[name]
            axes.plot(
                answered,
                wrong,
                style.dashes,
                color=style.colour,
                marker=style.marker,
                markersize=3.5,
            )
            ends[name] = (answered[-1], wrong[-1], style.colour)
        else:
            axes.plot(answered, wrong, color=GREY, lw=0.6, alpha=0.6, zorder=1)
    axes.set_ylim(bottom=0.0)
    label_line_ends(axes, ends)
    return Picture(dataset, _describe(dataset, errors), figure)


def _describe(dataset: str, errors: Mapping[str, Mapping[float, float]]) -> str:
    ranked = sorted(errors, key=lambda name: list(errors[name].values())[-1])
    parts = []
    for name in ranked:
        (few, least), *_, (_, most) = errors[name].items()
        parts.append(f"{name} {most:.1f} %, of the surest {few:.0f} % {least:.1f} %")
    return f"Wrong answers on {dataset} in the last session, of all: {'; '.join(parts)}."
