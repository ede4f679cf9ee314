"""Study of class trees: borrowing between siblings, and answers that back off."""

import json

import numpy as np
import pytest
from studies.class_backoff import (
    BACK_OFFS,
    NO_ANSWER,
    Branches,
    answered,
    is_right,
)
from studies.class_borrowing import borrowing, parents_of_rows, sibling_shares
from studies.class_tree import Taught, measured_stream
from studies.class_tree_page import PLAIN, page_text

from nodegraft.graph.labels import NodeLabels
from nodegraft.lab.datasets.synthetic import Synthetic
from nodegraft.methods.graft import Graft

PARENTS = {"boots": "shoes", "clogs": "shoes", "caps": "hats", "shoes": "wear", "hats": "wear"}
WEAR = Branches.of(["boots", "clogs", "caps", "rugs"], PARENTS)
SHARES = np.array(
    [
        [0.95, 0.03, 0.01, 0.01],
        [0.50, 0.45, 0.03, 0.02],
        [0.40, 0.25, 0.30, 0.05],
        [0.30, 0.20, 0.05, 0.45],
    ]
)


def names_of(way: str, level: float) -> list[str | None]:
    places = BACK_OFFS[way](WEAR.sums(SHARES), WEAR, level)
    return [None if place == NO_ANSWER else WEAR.names[place] for place in places]


@pytest.mark.parametrize(
    ("way", "level", "expected"),
    [
        ("abstain", 0.9, ["boots", None, None, None]),
        ("up", 0.9, ["boots", "shoes", "wear", None]),
        ("any", 0.9, ["boots", "shoes", "wear", None]),
        # The best class of the last node is a rug, but half of its confidence is in shoes.
        ("up", 0.5, ["boots", "boots", "shoes", None]),
        ("any", 0.5, ["boots", "boots", "shoes", "shoes"]),
    ],
)
def test_answers_are_the_lowest_names_that_suffice(
    way: str, level: float, expected: list[str | None]
) -> None:
    assert names_of(way, level) == expected


def test_an_ancestor_is_right_for_each_class_below_it() -> None:
    places = np.array([WEAR.names.index("shoes"), WEAR.names.index("wear"), NO_ANSWER])
    assert is_right(places, np.array([1, 2, 0]), WEAR).tolist() == [True, True, False]
    assert is_right(places, np.array([2, 3, 0]), WEAR).tolist() == [False, False, False]


def test_precision_is_of_answers_and_of_answers_above() -> None:
    record = answered(WEAR.sums(SHARES), np.array([1, 1, 2, 3]), WEAR, 0.9, "up")
    above = {"coverage": 0.5, "precision": 1.0, "promised": 0.95}
    assert record == {"coverage": 0.75, "precision": 0.6667, "promised": 0.95, "above": above}


def test_shares_of_siblings_add_up_to_one_and_fade_with_labels() -> None:
    parents, counts = np.array([0, 0, 1, -1, -1, 0]), np.array([1, 5, 5, 5, 5, 500])
    shares = sibling_shares(parents, counts, 2.0)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert shares[0].tolist() == pytest.approx([1 / 3, 1 / 3, 0, 0, 0, 1 / 3])
    # Classes without siblings keep to themselves.
    assert shares[2:5].tolist() == np.eye(6)[2:5].tolist()
    assert shares[5, 5] > 0.99


def test_borrowing_changes_scores_and_leaves_no_trace() -> None:
    data = Synthetic(nodes=300, classes=8).load()
    names = list(data.labels)
    known = NodeLabels({name: data.labels[name][:9] for name in names[:6]})
    new = {name: data.labels[name][:1] for name in names[6:]}
    parents = {name: f"group {place % 3}" for place, name in enumerate(names[:-1])}
    taught = Taught(
        # Refined means would pass on changes to all classes.
        Graft(refine=False).fit(data.graph, known),
        data.graph,
        known,
        parents,
        parents_of_rows(data.labels, parents),
    )
    labels, rows = NodeLabels({**known, **new}), data.graph.rows
    plain = taught.scores(labels, rows)
    for what in ("means", "regressions", "heat"):
        with borrowing(what, 2.0, taught.parent_of_row):
            changed = np.abs(taught.scores(labels, rows) - plain).max(axis=0)
        assert changed[6] == changed.max() > 0.01, what
        # The last class has no siblings.
        assert changed[7] == pytest.approx(0.0)
    assert taught.scores(labels, rows) == pytest.approx(plain)


def test_a_stream_is_measured_and_written() -> None:
    data = Synthetic(nodes=400, classes=16).load()
    parents = {name: f"group {place % 3}" for place, name in enumerate(data.labels)}
    record = {"graph": "gentoo", "seed": 0, **measured_stream(data, 0, parents)}
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["accuracy"]["5"][PLAIN]["all"] > 0.9
    level = record["back_off"]["closed"]["0.90"]
    assert level["up"]["all"]["coverage"] >= level["abstain"]["all"]["coverage"]
    assert page_text([record, {**record, "seed": 1}]).count("| gentoo") > 10
