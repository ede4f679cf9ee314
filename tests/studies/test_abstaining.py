import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from studies.abstaining import RECORDS, measured
from studies.abstaining_page import curves_by_graph, page_text
from studies.figures.abstaining import (
    STYLES,
    X_LABEL,
    Y_LABEL,
    AbstainingCurves,
    Acceptance,
    ErrorCurve,
    describe_abstaining,
    draw_abstaining,
)
from studies.record_file import PAGES

from nodegraft.base.errors import ParameterError
from nodegraft.lab.datasets.synthetic import Synthetic
from studies import abstaining as script
from tests.lab.report.drawn_figures import overlaps, visible_texts

FIRST = ErrorCurve(
    [[0.0, 0.1], [0.0, 0.3]],
    {0.9: Acceptance([0.5, 0.7], [1.0, 0.9]), 0.95: Acceptance([0.25, 0.0], [1.0, np.nan])},
)
LAST = ErrorCurve(
    [[0.1, 0.4], [0.3, 0.5]],
    {0.9: Acceptance([0.2, 0.2], [0.75, 0.65]), 0.95: Acceptance([0.0, 0.0], [np.nan, np.nan])},
)
SHOP = AbstainingCurves("shop", {"every class alike": {"session 0": FIRST, "last session": LAST}})


def curves(axes: Axes) -> dict[str, list[list[float]]]:
    """The lines of a panel by colour, without marks and levels."""
    return {
        to_hex(str(line.get_color())).upper(): np.asarray(line.get_xydata()).tolist()
        for line in axes.lines
        if line.get_marker() == "None" and to_hex(str(line.get_color())).upper() != "#BBBBBB"
    }


def marks(axes: Axes, marker: str) -> list[list[float]]:
    found = [line for line in axes.lines if line.get_marker() == marker]
    return [np.asarray(line.get_xydata())[0].tolist() for line in found]


def test_lines_are_means_over_seeds_in_percent() -> None:
    (axes,) = draw_abstaining([SHOP]).axes
    first, last, *_ = (colour for colour, _ in STYLES)
    drawn = curves(axes)
    assert drawn[first] == [pytest.approx([50, 0]), pytest.approx([100, 20])]
    assert drawn[last] == [pytest.approx([50, 20]), pytest.approx([100, 45])]


def test_marks_say_what_is_answered_and_wrong_at_a_level() -> None:
    (axes,) = draw_abstaining([SHOP]).axes
    assert marks(axes, "o") == [pytest.approx([60, 5]), pytest.approx([20, 30])]
    # A seed that accepts nothing has no precision; where none accepts any, there is no mark.
    assert marks(axes, "s") == [
        pytest.approx([12.5, 0]),
        pytest.approx([0, np.nan], nan_ok=True),
    ]


def test_the_band_reaches_from_the_worst_to_the_best_seed_of_the_last_session() -> None:
    (axes,) = draw_abstaining([SHOP]).axes
    (band,) = axes.collections
    corners = np.vstack([path.vertices for path in band.get_paths()])
    assert corners[corners[:, 0] == 50.0][:, 1].min() == pytest.approx(10)
    assert corners[corners[:, 0] == 100.0][:, 1].max() == pytest.approx(50)


def test_units_and_all_lines_are_named() -> None:
    figure = draw_abstaining([SHOP])
    texts = [text.get_text() for text in visible_texts(figure)]
    assert X_LABEL in texts
    assert f"{Y_LABEL}\nevery class alike" in texts
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["session 0", "last session", "at least 0.90", "at least 0.95"]


def test_words_say_it_too() -> None:
    assert describe_abstaining([SHOP]) == (
        "On shop, every class alike, session 0: 20.0 % of all predictions are wrong, of the 60 % "
        "with confidence 0.90 or more 5.0 %, of the 12 % with confidence 0.95 or more 0.0 %; last "
        "session: 45.0 % of all predictions are wrong, of the 20 % with confidence 0.90 or more "
        "30.0 %, none has confidence 0.95 or more."
    )


def test_graphs_share_a_legend() -> None:
    other = replace(SHOP, curves={"every class alike": {"session 0": FIRST, "session 9": LAST}})
    with pytest.raises(ParameterError, match="same sessions"):
        draw_abstaining([SHOP, other])
    with pytest.raises(ParameterError, match="no graph"):
        draw_abstaining([])
    many = {f"session {index}": FIRST for index in range(len(STYLES) + 1)}
    with pytest.raises(ParameterError, match="2 to 3 sessions"):
        draw_abstaining([AbstainingCurves("shop", {"every class alike": many})])


def test_the_page_says_what_was_measured() -> None:
    records = json.loads(RECORDS.read_text())
    assert (PAGES / "abstaining-measured.md").read_text() == page_text(records)
    assert overlaps(draw_abstaining(curves_by_graph(records))) == []


def test_a_stream_is_measured_from_its_first_to_its_last_session() -> None:
    record = measured(Synthetic(nodes=400, classes=16).load(), seed=0)
    assert list(record["sessions"]) == ["first", "middle", "last"]
    last = record["sessions"]["last"]
    for way in ("natural", "macro"):
        assert last[way]["errors"][-1] == pytest.approx(1 - last[way]["accuracy"], abs=2e-4)
    assert record["sessions"]["first"]["calibration"]["new"] is None
    assert record["unknown_classes"]["auroc"] > 0.5
    assert json.loads(json.dumps(record, allow_nan=False)) == record


def test_only_what_is_missing_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []

    def recorded(data: str, seed: int) -> dict[str, object]:
        asked.append((data, seed))
        return {"graph": data, "seed": seed}

    monkeypatch.setattr(script, "measured", recorded)
    monkeypatch.setattr("nodegraft.load_dataset", lambda name, root: name)
    path = tmp_path / "abstaining.json"
    script.measure_missing(path, "", ["wordnet"], [1])
    script.measure_missing(path, "", ["wordnet", "gentoo"], [0, 1])
    assert asked == [("wordnet", 1), ("wordnet", 0), ("gentoo", 0), ("gentoo", 1)]
    written = [(one["graph"], one["seed"]) for one in json.loads(path.read_text())]
    assert written == [("gentoo", 0), ("gentoo", 1), ("wordnet", 0), ("wordnet", 1)]
