"""One style for each method through a whole report."""

from dataclasses import replace

import pytest
from matplotlib.colors import to_hex

from nodegraft.analysis.rendering.drawing import GREY, PALETTE, Axes, Picture
from nodegraft.lab.report.figures.points import draw_recommendation
from nodegraft.lab.report.figures.styles import assign_styles, styles_of_section
from nodegraft.lab.report.groups import Groups
from nodegraft.lab.report.recommendation import recommend
from nodegraft.lab.report.section import Section, with_styles
from tests.lab.report.records import LEAKY, STRICT, section, two_graphs

METHODS = {"graft": [0.8, 0.7], "hag-meta": [0.5, 0.6], "cec": [0.3, 0.2], "sgc-mean": [0.4, 0.5]}


def records(*names: str) -> Groups:
    """Of some of the methods, in this order."""
    return two_graphs(**{name.replace("-", "_"): METHODS[name] for name in names})


def named(one: Section, name: str) -> Section:
    """The same section of another file."""
    return replace(one, path=f"experiments/{name}.toml")


def marks(axes: Axes) -> set[tuple[str, str]]:
    """Colours and markers of all that is drawn."""
    return {(to_hex(str(one.get_color())).upper(), str(one.get_marker())) for one in axes.lines}


def label_colours(picture: Picture) -> dict[str, str]:
    """Method -> the colour of its name beside its line."""
    (axes,) = picture.figure.axes
    return {text.get_text(): to_hex(str(text.get_color())).upper() for text in axes.texts}


def test_a_method_keeps_its_style_in_sections_of_other_methods_and_another_order() -> None:
    main = named(section(records(*METHODS), figures=["curves"]), "growing")
    # Another winner, and the order of the suite turned round.
    other = named(section(records("sgc-mean", "cec", "hag-meta"), figures=["curves"]), "other")
    one, two = with_styles([main, other])
    assert two.styles == {name: one.styles[name] for name in two.styles}
    first, second = (label_colours(found.pictures["curves"][0]) for found in (one, two))
    assert set(first) == set(METHODS)
    assert len(set(first.values())) == len(METHODS)
    assert second == {name: first[name] for name in ("sgc-mean", "cec", "hag-meta")}


def test_a_method_looks_the_same_in_every_kind_of_figure_and_on_the_first_screen() -> None:
    groups = records(*METHODS)
    groups |= {(dataset, name, LEAKY): runs for (dataset, name, _), runs in groups.items()}
    kinds = ("curves", "pareto", "risk-coverage", "effects")
    found = section(groups, figures=kinds)
    wanted = {(style.colour, style.marker) for style in found.styles.values()}
    assert len(wanted) == len(METHODS)
    for kind in kinds:
        (axes, *_) = found.pictures[kind][0].figure.axes
        assert wanted <= marks(axes), kind
    recommendation = recommend(groups)
    assert recommendation is not None
    (axes,) = draw_recommendation(recommendation, found.styles).figure.axes
    for name in ("graft", "hag-meta"):
        assert (found.styles[name].colour, found.styles[name].marker) in marks(axes)


def test_the_winner_is_first_and_the_papers_method_always_second() -> None:
    styles = section(records("cec", "hag-meta", "graft"), figures=["curves"]).styles
    assert (styles["graft"].colour, styles["hag-meta"].colour) == PALETTE[:2]
    alone = section(records("hag-meta"), figures=["curves"]).styles
    assert alone["hag-meta"] == styles["hag-meta"]


def test_methods_that_more_sections_highlight_have_the_colours() -> None:
    names = [f"method-{letter}" for letter in "abcdefgh"]
    styles = assign_styles([names, names[4:]])
    assert {name for name in names if styles[name].is_coloured} >= set(names[4:])
    assert sum(style.is_coloured for style in styles.values()) == len(PALETTE)
    grey = [style for style in styles.values() if style.colour == GREY]
    # Never by colour alone: those beyond the palette differ by their markers.
    assert len({style.marker for style in grey}) == 2


def test_a_section_of_methods_beyond_the_palette_still_names_them() -> None:
    late = section(records("cec", "sgc-mean"), figures=["curves"])
    more_often = [f"method-{letter}" for letter in "abcdef"]
    styles = assign_styles([more_often, more_often, ["cec", "sgc-mean"]])
    styles = styles_of_section(styles, late.groups)
    picture = replace(late, styles=styles).pictures["curves"][0]
    assert label_colours(picture) == {"cec": GREY, "sgc-mean": GREY}


@pytest.mark.parametrize("order", [("cec", "no memory"), ("no memory", "cec")])
def test_variants_share_the_colours_that_methods_leave(order: tuple[str, ...]) -> None:
    main = named(section(records("graft", "hag-meta", "cec"), figures=["curves"]), "growing")
    runs = records("cec")["gentoo", "cec", STRICT]
    groups: Groups = {("gentoo", name, STRICT): [*runs] for name in order}
    ablation = named(section(groups, figures=["curves"]), "ablation")
    of_cec = [
        (replace(entry, job=replace(entry.job, method="cec")), record)
        for entry, record in ablation.pairs
    ]
    one, two = with_styles([main, replace(ablation, pairs=of_cec)])
    assert "no memory" not in one.styles
    assert two.styles["cec"] == one.styles["cec"]
    assert two.styles["no memory"].is_coloured
    assert two.styles["no memory"].colour != two.styles["cec"].colour


def test_a_method_has_its_style_whatever_the_setting_is_called() -> None:
    main = named(section(records("graft", "cec"), figures=["curves"]), "growing")
    groups: Groups = {
        (graph, f"cec {shots}-shot", STRICT): [
            {**run, "setting": {"ways": 3, "shots": shots}} for run in runs
        ]
        for (graph, _, _), runs in records("cec").items()
        for shots in (1, 5)
    }
    study = named(section(groups, figures=["ways-shots"]), "study")
    one, two = with_styles([main, study])
    assert two.styles["cec"] == one.styles["cec"]
    assert label_colours(two.pictures["ways-shots"][0]) == {"cec": one.styles["cec"].colour}
