"""Plots of a store: what they say, with few and with many classes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes

from nodegraft.analysis.accuracy import probability_bins
from nodegraft.analysis.rendering.class_plots import draw_confusion, draw_map
from nodegraft.analysis.rendering.drawing import draw_on, svg_text
from nodegraft.analysis.rendering.plots import (
    draw_abstaining,
    draw_calibration,
    draw_history,
    draw_learning_curve,
    draw_recall,
)
from nodegraft.analysis.version import AccuracyCount
from nodegraft.base.errors import ParameterError, StoreError
from nodegraft.evaluation.confusion import ConfusionMatrix
from nodegraft.store.store import Store
from tests.store.small import drawn as small_graph
from tests.store.small import made

MANY = [f"$x_{number}$" for number in range(130)]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return made(tmp_path_factory.mktemp("plots") / "store", method="graft")[0]


def drawn(draw: Callable[[Axes], None]) -> str:
    """Return a plot as SVG, after a check that no interval leaves 0 to 100 %."""
    axes = draw_on(None, (5, 4), draw)
    text = svg_text(axes.figure)  # type: ignore[arg-type]
    pyplot.close("all")
    return text


def heights(axes: Axes) -> list[float]:
    return [float(y) for line in axes.lines for y in np.ravel(line.get_ydata())]


def test_every_plot_of_a_store_is_drawn_into_given_axes(store: Store) -> None:
    _, ax = pyplot.subplots()
    for draw in (
        store.plot_confusion,
        store.plot_recall,
        store.plot_calibration,
        store.plot_history,
        store.plot_map,
    ):
        assert draw(ax=ax) is ax
    pyplot.close("all")
    assert store.plot_history().get_title("left") == "Held-out accuracy by version"
    assert pyplot.get_fignums()
    pyplot.close("all")


def test_a_confusion_matrix_says_its_counts(store: Store) -> None:
    matrix = store.confusion_matrix()
    axes = store.plot_confusion()
    counts = [int(text.get_text()) for text in axes.texts]
    assert sorted(counts) == sorted(matrix.counts[matrix.counts > 0].tolist())
    assert axes.get_title("left").startswith(f"Confusion matrix: {np.trace(matrix.counts)} of 16")
    pyplot.close("all")


def test_of_many_classes_the_confused_ones_have_rows_and_no_node_is_lost() -> None:
    truth = [*MANY, MANY[5], MANY[7], MANY[8]]
    predictions = [*MANY, MANY[6], MANY[6], None]
    axes = draw_on(
        None, (9, 9), lambda ax: draw_confusion(ax, ConfusionMatrix.of(truth, predictions), most=3)
    )
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names == ["$x_5$", "$x_6$", "$x_7$", "127 others"]
    assert sum(int(text.get_text()) for text in axes.texts) == len(truth)
    pyplot.close("all")


def test_class_names_are_never_read_as_tex() -> None:
    recalls = {name: AccuracyCount(10, 9) for name in MANY}
    places = np.random.default_rng(0).random((130, 2))
    classes = np.array(MANY, dtype=object)
    for text in (
        drawn(lambda ax: draw_recall(ax, recalls)),
        drawn(lambda ax: draw_confusion(ax, ConfusionMatrix.of(MANY, MANY))),
        drawn(lambda ax: draw_map(ax, places, classes, MANY)),
    ):
        assert "$x_" in text


def test_no_interval_leaves_0_to_100_percent() -> None:
    extremes = {1: AccuracyCount(3, 3), 2: AccuracyCount(3, 0), 5: AccuracyCount(500, 499)}
    bins = probability_bins(np.array([0.05, 0.5, 0.99]), np.array([False, True, True]))
    for draw in (
        lambda ax: draw_history(ax, extremes, [1]),
        lambda ax: draw_learning_curve(ax, extremes),
        lambda ax: draw_calibration(ax, bins),
        lambda ax: draw_abstaining(ax, {0.5: extremes[1], 0.9: extremes[2]}, 6),
    ):
        axes = draw_on(None, (5, 4), draw)
        assert min(heights(axes)) >= 0.0
        assert max(heights(axes)) <= 100.0
        assert axes.get_ylim()[0] <= min(heights(axes))
    axes = draw_on(None, (5, 4), lambda ax: draw_recall(ax, {"a": extremes[1], "b": extremes[2]}))
    places = [float(x) for line in axes.lines for x in np.ravel(line.get_xdata())]
    assert (min(places), max(places)) == (0.0, 100.0)
    pyplot.close("all")


def test_a_learning_curve_is_fitted_on_fewer_labels(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "store")
    points = store.learning_curve([2, 8, 99])
    assert [one.labels_of_a_class for one in points] == [2, 8, 16]
    assert [one.labels for one in points] == [8, 32, 64]
    assert points[-1].count == store.version().held_out
    assert store.plot_learning_curve([2, 16]).get_title("left") == "Learning curve"
    pyplot.close("all")
    wrong: list[list[Any]] = [[0], ["x"]]
    for sizes in wrong:
        with pytest.raises(ParameterError, match="sizes must be a list, each a whole number at"):
            store.learning_curve(sizes)
    with pytest.raises(ParameterError, match="at least 1; none"):
        store.learning_curve([])


def test_a_class_whose_name_starts_with_an_underscore_is_in_the_legend() -> None:
    names = np.array(["_new", "old", "other"], dtype=object)
    axes = draw_on(None, (5, 4), lambda ax: draw_map(ax, np.eye(3, 2), names, ["_new", "old"]))
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["_new", "old", "1 other"]
    pyplot.close("all")


def test_a_plot_without_anything_to_draw_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="most"):
        store.plot_recall(most=0)
    with pytest.raises(ParameterError, match="no classes of this version"):
        store.plot_map(classes=["nope"])
    graph, labels = small_graph()
    few = {name: keys[:2] for name, keys in labels.items()}
    with pytest.raises(StoreError, match="held-out"):
        Store.init(tmp_path / "few", graph, few, method="sgc-mean").plot_history()
