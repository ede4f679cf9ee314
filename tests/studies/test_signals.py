import json

import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from studies.figures.signals import (
    BEST,
    MIXED,
    MIXTURE,
    OTHER,
    Accuracies,
    GraphSignals,
    describe_signals,
    draw_signals,
)
from studies.graft_signals import RECORDS, page_text, signals_by_graph
from studies.record_file import PAGES

from nodegraft.base.errors import ParameterError
from tests.lab.report.drawn_figures import overlaps, visible_texts

SHOP = GraphSignals(
    "shop",
    seen=Accuracies({"text": [0.5, 0.7], "diffusion": [0.25, 0.25]}, mixture=[0.75, 0.75]),
    new=Accuracies({"text": [0.0, 0.5], "diffusion": [0.5, 0.5]}, mixture=[0.25, 0.25]),
    score_share={"text": [0.75, 0.25], "diffusion": [0.25, 0.5], "few labels": [0.0, 0.25]},
)


def panels(figure: Figure) -> list[list[Axes]]:
    return [row.axes for row in figure.subfigs]


def widths(axes: Axes) -> list[float]:
    return [bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)]


def test_bars_are_means_over_seeds_in_percent() -> None:
    (seen,), (new,), (share,) = panels(draw_signals([SHOP]))
    assert widths(seen) == pytest.approx([60, 25, 75])
    assert widths(new) == pytest.approx([25, 50, 25])
    assert widths(share) == pytest.approx([50, 37.5, 12.5])
    names = [label.get_text() for label in seen.get_yticklabels()]
    assert names == ["text", "diffusion", MIXTURE]


def test_lines_reach_from_the_worst_to_the_best_seed() -> None:
    (seen,), _, _ = panels(draw_signals([SHOP]))
    (lines,) = [item for item in seen.collections if isinstance(item, LineCollection)]
    ends = [segment[:, 0].tolist() for segment in lines.get_segments()]
    assert ends == [pytest.approx(pair) for pair in ([50, 70], [25, 25], [75, 75])]


def test_the_best_single_signal_stands_out_on_each_kind_of_class() -> None:
    (seen,), (new,), _ = panels(draw_signals([SHOP]))
    for axes, colours in {seen: [BEST, OTHER, MIXED], new: [OTHER, BEST, MIXED]}.items():
        assert [to_hex(bar.get_facecolor()).upper() for bar in axes.patches] == colours


def test_units_are_stated() -> None:
    texts = [text.get_text() for text in visible_texts(draw_signals([SHOP]))]
    assert texts.count("macro accuracy in %") == 2
    assert "share in %" in texts


def test_words_say_it_too_even_where_the_mixture_is_behind() -> None:
    assert describe_signals([SHOP]) == (
        "On shop the accuracy of all signals together is 75.0 %, that of the best one alone (text) "
        "60.0 %; on new classes 25.0 % and 50.0 % (diffusion). What moves the score most is text "
        "(50 %)."
    )


def test_graphs_share_their_rows() -> None:
    other = GraphSignals("other", SHOP.seen, SHOP.new, {"diffusion": [1.0]})
    with pytest.raises(ParameterError, match="same signals"):
        draw_signals([SHOP, other])
    with pytest.raises(ParameterError, match="no graph"):
        draw_signals([])


def test_the_page_says_what_was_measured() -> None:
    graphs = signals_by_graph(json.loads(RECORDS.read_text()))
    assert (PAGES / "graft-signals.md").read_text() == page_text(graphs)
    assert overlaps(draw_signals(graphs)) == []
