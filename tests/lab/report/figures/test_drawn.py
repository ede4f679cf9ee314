"""The figures a suite may ask for: what is drawn and said is what the records hold."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from nodegraft.analysis.rendering.drawing import GREY, Picture
from nodegraft.base.errors import ParameterError
from nodegraft.lab.report.figures.catalogue import FIGURES, draw_figures
from nodegraft.lab.report.figures.styles import (
    MOST_HIGHLIGHTED,
    Styles,
    assign_styles,
    highlighted_methods,
)
from nodegraft.lab.report.groups import Groups, merge_settings
from tests.lab.report.drawn_figures import overlaps, places
from tests.lab.report.records import LEAKY, STRICT, UPPER_REFERENCE, lasts, run, two_graphs

MANY = {f"method-{letter}": [0.3 + 0.003 * place] for place, letter in enumerate("abcdefghijklm")}


def texts(picture: Picture) -> list[str]:
    """What is written beside lines and points."""
    return [text.get_text() for axes in picture.figure.axes for text in axes.texts]


def draw(kind: str, groups: Groups) -> list[Picture]:
    """Draw one kind of figure, as in a report with this one section."""
    return draw_figures([kind], groups, styles_of(groups))[kind]


def styles_of(groups: Groups) -> Styles:
    """As in a report with this one section."""
    return assign_styles([highlighted_methods(merge_settings(groups))])


def test_curves_are_the_means_with_their_bands() -> None:
    groups: Groups = {("gentoo", "one", STRICT): [run(0.8, 0.4, seed=0), run(0.8, 0.6, seed=1)]}
    (picture,) = draw("curves", groups)
    (axes,) = picture.figure.axes
    assert places(axes.lines[0])[:, 1].tolist() == pytest.approx([80.0, 50.0])
    (band,) = axes.collections
    # A standard error of 10 points, times 12.706 for one degree of freedom, would leave 0 to 100 %.
    limits = band.get_datalim(axes.transData)
    assert (limits.y0, limits.y1) == (0.0, 100.0)
    assert texts(picture) == ["one"]
    assert picture.description == (
        "Macro accuracy on gentoo from the first to the last session: one from 80.0 to 50.0 %."
    )


def test_few_of_many_methods_have_colours_and_all_are_drawn_and_described() -> None:
    groups = two_graphs(**{name.replace("-", "_"): last for name, last in MANY.items()})
    assert len(highlighted_methods(groups)) <= MOST_HIGHLIGHTED
    picture = draw("curves", groups)[0]
    lines = picture.figure.axes[0].lines
    assert len(lines) == len(MANY)
    assert sum(to_hex(str(line.get_color())) == GREY.lower() for line in lines) == len(MANY) - len(
        texts(picture)
    )
    assert all(f"{name} from 90.0" in picture.description for name in MANY)


def test_methods_measured_more_often_are_highlighted_with_the_best_other() -> None:
    groups = two_graphs(often=[0.2] * 10, best=[0.9] * 5, rare=[0.5] * 5)
    assert set(highlighted_methods(groups)) == {"often", "best"}


def test_the_papers_method_is_highlighted_however_it_does() -> None:
    names = {name.replace("-", "_"): last for name, last in MANY.items()}
    assert "hag-meta" in highlighted_methods(two_graphs(**names, hag_meta=[0.1]))


def test_points_of_the_pareto_figure_are_the_records_and_names_do_not_overlap() -> None:
    groups: Groups = {
        ("gentoo", "quick", STRICT): [*lasts(0.5, seconds=0.01)],
        ("gentoo", "good", STRICT): [*lasts(0.8, seconds=1.0)],
        **{
            ("gentoo", name, STRICT): [*lasts(*last, seconds=1.0 + last[0])]
            for name, last in MANY.items()
        },
    }
    (picture,) = draw("pareto", groups)
    (axes,) = picture.figure.axes
    points = [tuple(places(line)[0].round(6)) for line in axes.lines[1:]]
    assert (0.01, 50.0) in points
    assert (1.0, 80.0) in points
    assert sorted(texts(picture)) == sorted(["quick", "good", *MANY])
    assert overlaps(picture.figure) == []
    assert (
        "quick (0.010 s, 50.0 %), good (1.000 s, 80.0 %). 13 others are worse"
        in picture.description
    )


def test_risk_is_one_minus_accuracy_of_the_last_session() -> None:
    groups: Groups = {
        ("gentoo", "one", STRICT): [
            run(0.9, 0.5, seed=0, coverage={"0.50": 0.9, "1.00": 0.6}),
            run(0.9, 0.5, seed=1, coverage={"0.50": 0.7, "1.00": 0.4}),
        ]
    }
    (picture,) = draw("risk-coverage", groups)
    drawn = places(picture.figure.axes[0].lines[0])
    np.testing.assert_allclose(drawn, [[50.0, 20.0], [100.0, 50.0]])
    assert "one 50.0 %, in the most confident 50 % 20.0 %" in picture.description


def test_ways_and_shots_are_read_from_the_setting() -> None:
    sizes = {(3, 1): 0.2, (3, 5): 0.5, (5, 5): 0.4, (1, 5): 0.6}
    groups: Groups = {
        ("gentoo", f"one {ways}-way {shots}-shot", STRICT): [
            run(0.9, last, setting={"ways": ways, "shots": shots})
        ]
        for (ways, shots), last in sizes.items()
    }
    over_shots, over_ways = draw("ways-shots", groups)
    assert over_shots.description == (
        "Last session on gentoo at 3-way, by labels of a new class (K): one 20.0 % at 1, 50.0 % at "
        "5."
    )
    assert over_ways.description.endswith("one 60.0 % at 1, 50.0 % at 3, 40.0 % at 5.")
    drawn = places(over_ways.figure.axes[0].lines[0])
    np.testing.assert_allclose(drawn, [[1, 60], [3, 50], [5, 40]])
    assert texts(over_ways) == ["one"]


@pytest.mark.parametrize("kind", FIGURES)
def test_every_figure_comes_out_the_same_twice_and_says_something(kind: str) -> None:
    groups = two_graphs(graft=[0.8, 0.7], hag_meta=[0.5, 0.6], cec=[0.3, 0.2])
    groups |= {(d, n, LEAKY): runs for (d, n, _), runs in groups.items()}
    first, second = (draw_figures([kind], groups, styles_of(groups))[kind] for _ in range(2))
    assert [one.svg for one in first] == [one.svg for one in second]
    assert all(len(one.description) > 30 and one.description.endswith(".") for one in first)


@pytest.mark.parametrize("kind", FIGURES)
def test_a_dataset_with_nothing_to_compare_is_left_out(kind: str) -> None:
    groups: Groups = {("gentoo", "joint", UPPER_REFERENCE): [*lasts(0.9)]}
    assert draw_figures([kind], groups, styles_of(groups))[kind] == []


def test_each_dataset_has_its_own_usual_size() -> None:
    groups: Groups = {
        (graph, f"one {shots}-shot", STRICT): [
            run(0.9, shots / 10, setting={"ways": ways, "shots": shots})
        ]
        for graph, ways in (("gentoo", 5), ("debian", 3))
        for shots in (1, 5)
    }
    gentoo, debian = draw("ways-shots", groups)
    assert "on gentoo at 5-way, by labels of a new class (K): one 10.0 % at 1" in gentoo.description
    assert "on debian at 3-way" in debian.description


def test_an_unknown_figure_is_named() -> None:
    with pytest.raises(ParameterError, match="no figure 'curvs'; there are curves"):
        draw_figures(["curvs"], {}, {})


def test_names_beside_lines_do_not_overlap() -> None:
    close = {f"one_{place}": [0.5 + 0.0001 * place] for place in range(5)}
    picture = draw("curves", two_graphs(**close))[0]
    assert len(texts(picture)) == 5
    assert overlaps(picture.figure) == []
