import numpy as np
import pytest
from scipy import stats

from nodegraft.report.figures.ranks import draw_ranks, rank_methods
from nodegraft.report.groups import Groups
from tests.report.drawn_figures import places
from tests.report.records import CEILING, lasts, run, two_graphs

GROUPS = two_graphs(first=[0.8, 0.82, 0.84], second=[0.6, 0.62, 0.64], third=[0.4, 0.42, 0.44])


def test_blocks_are_the_pairs_that_every_method_has() -> None:
    groups: Groups = dict(GROUPS)
    # One seed less here, and one that nobody else has.
    groups["gentoo", "third", "strict"] = [*lasts(0.4, 0.42), run(0.9, 0.99, seed=9)]
    found = rank_methods(groups)
    assert found is not None
    assert (found.blocks, found.graphs) == (5, 2)
    assert found.names == ("first", "second", "third")
    assert found.mean_ranks.tolist() == [1.0, 2.0, 3.0]


def test_the_critical_difference_is_nemenyis() -> None:
    found = rank_methods(GROUPS)
    assert found is not None
    # Demšar (2006), table 5: q = 2.343 for three methods at the 5 % level.
    assert found.critical_difference == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 6)), abs=1e-3)
    assert found.friedman_p == pytest.approx(stats.chi2.sf(12.0, 2))


def test_the_best_is_told_apart_by_wilcoxon_with_holms_correction() -> None:
    found = rank_methods(GROUPS)
    assert found is not None
    # Six pairs, all of one sign: 2 / 2⁶ each, and there are two tests.
    assert found.p_values.tolist() == pytest.approx([1.0, 2 / 32, 2 / 32])
    assert found.tied_with_best == ("second", "third")
    more = {
        key: [*runs, run(0.9, runs[0]["summary"]["last_accuracy"], seed=9)]
        for key, runs in GROUPS.items()
    }
    found = rank_methods(more)
    assert found is not None
    assert found.tied_with_best == ()


def test_methods_that_do_the_same_are_alike() -> None:
    found = rank_methods(two_graphs(one=[0.8, 0.7], other=[0.8, 0.7], third=[0.2, 0.1]))
    assert found is not None
    assert found.p_values[1] == 1.0


def test_the_figure_says_how_many_blocks_and_who_is_left_out() -> None:
    groups: Groups = {
        **GROUPS,
        ("gentoo", "narrow", "strict"): [*lasts(0.9, 0.9, 0.9)],
        ("gentoo", "joint", CEILING): [*lasts(0.99)],
    }
    (picture,) = draw_ranks(groups, {})
    assert picture.caption.startswith("6 pairs of graph and seed from 2 graphs")
    assert picture.caption.endswith("so left out: narrow.")
    assert "first 1.0, second 2.0, third 3.0" in picture.description
    assert "first does not differ significantly from second, third" in picture.description
    (axes,) = picture.figure.axes
    assert [places(line)[0, 0] for line in axes.lines] == [1.0, 2.0, 3.0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["first", "second", "third"]


def test_two_methods_are_no_ranking() -> None:
    assert draw_ranks(two_graphs(first=[0.8, 0.8], second=[0.6, 0.6]), {}) == []
