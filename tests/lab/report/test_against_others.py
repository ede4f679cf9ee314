"""The first screen: one method against all others, graph by graph."""

import pytest

from nodegraft.analysis.own_labels.comparison import Estimate
from nodegraft.lab.report.against_others import Opponent, against_others
from nodegraft.lab.report.groups import Groups
from nodegraft.lab.report.page import rivals_table
from tests.lab.report.records import STRICT, lasts, section


def test_the_nearest_other_method_is_named_on_every_graph() -> None:
    groups: Groups = {
        ("gentoo", "graft", STRICT): lasts(0.8, 0.82, 0.81),
        ("gentoo", "sgc-mean", STRICT): lasts(0.7, 0.71, 0.73),
        ("gentoo", "hag-meta", STRICT): lasts(0.5),
        ("debian", "graft", STRICT): lasts(0.6, 0.61, 0.62),
        ("debian", "sgc-mean", STRICT): lasts(0.7, 0.5, 0.65),
        ("debian", "hag-meta", STRICT): lasts(0.2),
    }
    found = against_others([section(groups)])
    assert found is not None
    assert found.method == "graft"
    gentoo, debian = found.graphs
    assert (gentoo.best.name, gentoo.best.lead.seeds, gentoo.others) == ("sgc-mean", 3, 1)
    assert gentoo.best.lead.mean == pytest.approx(100 * (0.81 - 2.14 / 3))
    assert gentoo.best.verdict == "ahead"
    assert debian.best.verdict == "unclear"
    assert str(gentoo.papers) == "+30.0 (1 seed)"
    assert found.with_verdict("unclear") == [debian]
    assert [row[0] for row in rivals_table(found).rows] == ["gentoo", "debian"]


def test_behind_is_said_with_a_minus() -> None:
    opponent = Opponent("cec", 50.0, Estimate(-2.0, 0.5, 5))
    assert (opponent.verdict, str(opponent)) == ("behind", "\N{MINUS SIGN}2.0 ± 0.5")


def test_one_graph_or_one_method_is_no_comparison() -> None:
    one: Groups = {("gentoo", name, STRICT): lasts(0.5, 0.6) for name in ("graft", "cec")}
    assert against_others([section(one)]) is None
