import subprocess
import sys

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from nodegraft.base.errors import ParameterError
from nodegraft.graph.keys import Key
from nodegraft.lab.report.figures.attention import LESS, MORE, draw_attention
from nodegraft.methods.hag_meta import Attention, HAGMeta
from tests.contract.streams import quick, small_stream
from tests.lab.report.drawn_figures import overlaps, visible_texts

SMALL = Attention(
    {"hats": {"p1": 0.2, 7: 0.5, "p3": 0.3}, "shoes": {"p4": 0.25, "p5": 0.75}},
    ((("base 1", "base 2"), 0.1), (("hats", "shoes"), 0.9)),
)


def panels(figure: Figure) -> tuple[list[Axes], Axes]:
    nodes, tasks = figure.subfigs
    return nodes.axes, tasks.axes[0]


def widths(axes: Axes) -> list[float]:
    return [bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)]


def lines(axes: Axes) -> list[float]:
    found = [item for item in axes.collections if isinstance(item, LineCollection)]
    return [float(line.get_segments()[0][0, 0]) for line in found]


def labels(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def many(classes: int, shots: int, ways: int = 5) -> Attention:
    random = np.random.default_rng(0)
    nodes: dict[str, dict[Key, float]] = {
        f"a class with the number {number}": {
            f"category/of-packages/{number}-{shot}": float(weight)
            for shot, weight in enumerate(random.dirichlet(np.full(shots, 20.0)))
        }
        for number in range(classes)
    }
    names = list(nodes)
    tasks = [("base",), *(tuple(names[at : at + ways]) for at in range(0, classes, ways))]
    return Attention(nodes, tuple((task, 1 / len(tasks)) for task in tasks))


def test_bars_are_the_weights_heaviest_first() -> None:
    (nodes,), tasks = panels(draw_attention(SMALL))
    assert widths(nodes) == [0.5, 0.3, 0.2, 0.75, 0.25]
    assert labels(nodes) == ["7", "p3", "p1", "p5", "p4"]
    assert widths(tasks) == [0.1, 0.9]
    assert labels(tasks) == ["base (2 classes)", "session 1: hats, shoes"]


def test_a_line_says_where_plain_averaging_would_be() -> None:
    (nodes,), tasks = panels(draw_attention(SMALL))
    assert lines(nodes) == pytest.approx([1 / 3, 1 / 2])
    assert lines(tasks) == pytest.approx([1 / 2])


def test_orange_counts_less_and_equal_weights_are_not_less() -> None:
    third = 1 / 3 - 1e-8  # as 32-bit numbers may have it
    attention = Attention(
        {"even": dict.fromkeys(("a", "b", "c"), third), "odd": {"d": 0.6, "e": 0.4}},
        ((("even", "odd"), 1.0),),
    )
    (nodes,), _ = panels(draw_attention(attention))
    colours = [to_hex(bar.get_facecolor()).upper() for bar in nodes.patches]
    assert colours == [MORE, MORE, MORE, MORE, LESS]


def test_weights_of_a_session_are_held_against_its_equal_share() -> None:
    attention = Attention(
        {"a": {1: 0.1, 2: 0.2}, "b": {3: 0.3, 4: 0.4}, "c": {5: 1.0}},
        ((("base",), 0.2), (("a", "b"), 0.3), (("c",), 0.5)),
    )
    figure = draw_attention(attention)
    (nodes,), _ = panels(figure)
    assert lines(nodes) == pytest.approx([1 / 4, 1 / 4, 1.0])
    assert "weight, sums to 1 in a session" in [text.get_text() for text in visible_texts(figure)]


def test_units_are_stated() -> None:
    texts = [text.get_text() for text in visible_texts(draw_attention(SMALL))]
    assert "weight, sums to 1 in a class" in texts
    assert "weight, sums to 1 over the tasks" in texts


def test_long_names_lose_their_middle() -> None:
    url, name = "https://shop.example/items/p91007", "everything with two wheels and a motor"
    figure = draw_attention(Attention({name: {url: 1.0}}, (((name,), 1.0),)))
    (nodes,), tasks = panels(figure)
    assert labels(nodes) == ["https://…/p91007"]
    assert labels(tasks) == ["session 1: everything w…and a motor"]
    assert "everything w…and a motor" in [text.get_text() for text in nodes.texts]


def test_dollars_and_line_breaks_are_only_text() -> None:
    name = "$5 \n and \\frac $6"
    figure = draw_attention(Attention({name: {name: 1.0}}, (((name,), 1.0),)))
    assert not overlaps(figure)
    (nodes,), _ = panels(figure)
    assert labels(nodes) == ["$5 and \\frac $6"]


def test_of_many_supports_both_ends_are_drawn() -> None:
    weights: dict[Key, float] = {key: (key + 1) / 210 for key in range(20)}
    (nodes,), _ = panels(draw_attention(Attention({"many": weights}, ((("many",), 1.0),))))
    assert labels(nodes) == [str(key) for key in (*range(19, 13, -1), *range(5, -1, -1))]
    assert lines(nodes) == pytest.approx([1 / 20])
    assert nodes.texts[0].get_text() == "many (12 of 20)"


@pytest.mark.parametrize(("classes", "shots", "ways"), [(3, 5, 3), (60, 5, 5), (30, 1, 1)])
def test_no_two_labels_overlap(classes: int, shots: int, ways: int) -> None:
    attention = many(classes, shots, ways)
    figure = draw_attention(attention)
    drawn = [width for axes in panels(figure)[0] for width in widths(axes)]
    assert sorted(drawn) == sorted(w for row in attention.nodes.values() for w in row.values())
    assert overlaps(figure) == []


def test_a_model_can_be_drawn_once_it_met_new_classes() -> None:
    stream = small_stream()
    model = quick("hag-meta").fit(stream._graph, stream.split.train)
    assert isinstance(model, HAGMeta)
    with pytest.raises(ParameterError, match="add_classes"):
        draw_attention(model.attention(stream._graph))
    model.add_classes(stream._graph, stream.split.support.select(stream.split.arriving(1)))
    attention = model.attention(stream._graph)
    _, tasks = panels(draw_attention(attention))
    assert widths(tasks) == [weight for _, weight in attention.tasks]


def test_only_the_figure_needs_matplotlib() -> None:
    without = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import nodegraft, nodegraft.cli.app, nodegraft.lab.report.tables\n"
        "import nodegraft.lab.report.figures.attention"
    )
    done = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True)
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith("Drawing needs an extra: pip install 'nodegraft[plots]'")
