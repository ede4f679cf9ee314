"""Back-off on probabilities that are summed by hand."""

import numpy as np
import pytest

from nodegraft.model.back_off import NOTHING, Ancestors, TreeMeasures, back_off, measure
from nodegraft.model.class_tree import ClassTree

TREE = ClassTree({"boots": "shoes", "clogs": "shoes", "shoes": "wear", "caps": "wear"})
CLASSES = ["boots", "clogs", "caps", "pots"]
ANCESTORS = Ancestors.of(CLASSES, TREE)
SHARES = np.array(
    [
        [0.95, 0.03, 0.01, 0.01],  # boots
        [0.55, 0.40, 0.03, 0.02],  # shoes: 0.95
        [0.40, 0.20, 0.35, 0.05],  # wear: 0.95
        [0.50, 0.10, 0.10, 0.30],  # nothing: wear has 0.7
        [0.05, 0.05, 0.10, 0.80],  # nothing: pots has no parent
    ]
)
BEST = SHARES.argmax(axis=1)
NO_ESTIMATE = np.full(5, np.nan)


def answered(shares: np.ndarray, known: np.ndarray, least: float | None) -> list[str | None]:
    places = back_off(shares, shares.argmax(axis=1), known, "open", ANCESTORS, least).places
    return [None if place == NOTHING else ANCESTORS.names[place] for place in places]


def test_a_prediction_goes_up_to_the_lowest_ancestor_that_suffices() -> None:
    assert answered(SHARES, NO_ESTIMATE, 0.9) == ["boots", "shoes", "wear", None, None]
    assert answered(SHARES, NO_ESTIMATE, 0.5) == ["boots", "boots", "shoes", "boots", "pots"]
    assert answered(SHARES, NO_ESTIMATE, None) == ["boots"] * 4 + ["pots"]


def test_probability_is_the_sum_below_the_answer() -> None:
    found = back_off(SHARES, BEST, NO_ESTIMATE, "open", ANCESTORS, 0.9).probability
    # Withheld ones have the probability of the most probable class, as without a tree.
    assert found.tolist() == pytest.approx([0.95, 0.95, 0.95, 0.5, 0.8])
    assert found[0] == SHARES[0, 0]


def test_unknown_classes_lower_the_confidence_of_ancestors() -> None:
    known = np.array([1.0, 0.96, 0.9, 1.0, 1.0])
    # 0.95 * 0.96 = 0.912; 0.95 * 0.9 = 0.855.
    assert answered(SHARES, known, 0.9) == ["boots", "shoes", None, None, None]
    closed = back_off(SHARES, BEST, known, "closed", ANCESTORS, 0.9).places
    assert ANCESTORS.names[closed[2]] == "wear"


def test_a_parent_with_labels_counts_its_own_and_those_below() -> None:
    ancestors = Ancestors.of(["shoes", "boots", "caps"], ClassTree({"boots": "shoes"}))
    assert ancestors.names == ("shoes", "boots", "caps", "shoes")
    shares = np.array([[0.5, 0.45, 0.05], [0.95, 0.0, 0.05], [0.3, 0.65, 0.05]])
    found = back_off(shares, shares.argmax(axis=1), np.full(3, np.nan), "open", ancestors, 0.9)
    assert found.places.tolist() == [3, 0, 3]
    assert found.probability.tolist() == pytest.approx([0.95, 0.95, 0.95])
    assert ancestors.contains(np.array([3, 3, 0]), np.array([0, 2, 1])).tolist() == [
        *(True, False, False)
    ]


def test_without_a_tree_only_classes_are_answers() -> None:
    ancestors = Ancestors.of(CLASSES, ClassTree())
    found = back_off(SHARES, BEST, NO_ESTIMATE, "open", ancestors, 0.9).places
    assert found.tolist() == [0, NOTHING, NOTHING, NOTHING, NOTHING]


def test_measures_by_hand() -> None:
    best = np.array([0, 0, 0, 0, 3])
    answers = np.array([0, 4, 5, NOTHING, 3])
    assert ANCESTORS.names[4:] == ("shoes", "wear")
    # True classes: boots, clogs, pots, caps, pots.
    targets = np.array([0, 1, 3, 2, 3])
    assert measure(best, answers, targets, ANCESTORS) == TreeMeasures(
        leaf_accuracy=2 / 5,  # the first and the last
        wrong_branch=1 / 5,  # the third: boots are below wear, pots are not
        coverage=4 / 5,
        ancestor_accuracy=3 / 4,  # wear does not contain pots
    )
    assert measure(best, None, targets, ANCESTORS).coverage is None
    nothing = np.full(5, NOTHING)
    assert measure(best, nothing, targets, ANCESTORS).ancestor_accuracy is None


def test_a_node_does_not_depend_on_others() -> None:
    draws = np.random.default_rng(0).dirichlet(np.ones(4), 200)
    best, known = draws.argmax(axis=1), np.full(200, np.nan)
    every = back_off(draws, best, known, "open", ANCESTORS, 0.8)
    for row in range(0, 200, 7):
        alone = back_off(draws[[row]], best[[row]], known[[row]], "open", ANCESTORS, 0.8)
        assert alone.places[0] == every.places[row]
        assert alone.probability[0] == every.probability[row]
