import pytest

from nodegraft.lab.report.figures.catalogue import draw_figures
from nodegraft.lab.report.figures.points import effects
from nodegraft.lab.report.groups import Groups, by_method
from tests.lab.report.records import UPPER_REFERENCE, lasts, run, two_graphs

GROUPS = two_graphs(first=[0.8, 0.82, 0.84], second=[0.6, 0.62, 0.64], third=[0.4, 0.42, 0.44])


def test_differences_are_to_the_best_and_paired_by_seed() -> None:
    groups: Groups = dict(GROUPS)
    # One seed less here, and one that nobody else has.
    groups["gentoo", "third", "strict"] = [*lasts(0.4, 0.42), run(0.9, 0.99, seed=9)]
    best, others = effects(by_method(groups, "gentoo"))
    assert best == "first"
    assert [(name, lead.seeds) for name, lead in others.items()] == [("second", 3), ("third", 2)]
    assert [lead.mean for lead in others.values()] == pytest.approx([-20.0, -40.0])
    assert all(lead.beyond_noise for lead in others.values())


def test_a_difference_that_swings_is_not_clear() -> None:
    _, others = effects(by_method(two_graphs(a=[0.8, 0.6, 0.7], b=[0.7, 0.69, 0.69]), "gentoo"))
    assert others["b"].mean < 0
    assert not others["b"].beyond_noise


def test_there_is_a_picture_for_each_graph_and_no_p_value() -> None:
    pictures = draw_figures(["effects"], GROUPS, {})["effects"]
    assert len(pictures) == 2
    for picture in pictures:
        said = f"{picture.description} {picture.caption}"
        assert "points behind first" in said
        assert "p =" not in said
        assert "No interval contains zero" in said


def test_what_is_taught_most_labels_is_left_out() -> None:
    groups: Groups = {**GROUPS, ("gentoo", "joint", UPPER_REFERENCE): [*lasts(0.99, 0.99, 0.99)]}
    best, _ = effects(by_method(groups, "gentoo"))
    assert best == "first"


def test_a_single_method_has_nothing_to_be_compared_with() -> None:
    assert draw_figures(["effects"], two_graphs(first=[0.8, 0.8]), {}) == {"effects": []}
