import numpy as np
import pytest
from scipy.special import softmax

from nodegraft.methods.linear.loglinear import label_noise, mixture_weights


def drawn(
    weights: list[float], nodes: int = 4000, classes: int = 5, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Signals, and classes drawn from the mixture with these weights."""
    draws = np.random.default_rng(seed)
    signals = draws.standard_normal((len(weights), nodes, classes))
    shares = softmax(np.tensordot(weights, signals, 1), axis=1)
    targets = np.array([draws.choice(classes, p=share) for share in shares])
    return signals, targets


def test_finds_the_weights_that_made_the_classes() -> None:
    found = mixture_weights([drawn([2.0, 0.5, 0.0])])
    np.testing.assert_allclose(found, [2.0, 0.5, 0.0], atol=0.12)


def test_the_unit_of_a_signal_does_not_matter() -> None:
    signals, targets = drawn([2.0, 0.5])
    scale = np.array([10.0, 0.1])
    scaled = mixture_weights([(signals * scale[:, None, None], targets)])
    np.testing.assert_allclose(scaled * scale, mixture_weights([(signals, targets)]), rtol=1e-3)


def test_a_misleading_signal_gets_nothing_unless_allowed() -> None:
    rounds = [drawn([1.0, -1.0])]
    assert mixture_weights(rounds)[1] == 0.0
    assert mixture_weights(rounds, num_signed=1)[1] == pytest.approx(-1.0, abs=0.1)


def test_rounds_may_have_different_classes_and_count_alike() -> None:
    """A round with ten times the nodes does not outvote the other."""
    small, large = drawn([3.0], nodes=2000, classes=3), drawn([1.0], nodes=20_000, classes=8)
    both = mixture_weights([small, large])
    assert 1.2 < both[0] < 2.8


def test_a_signal_without_any_spread_is_no_trouble() -> None:
    signals, targets = drawn([1.0, 0.0])
    signals[1] = 0.0
    assert np.isfinite(mixture_weights([(signals, targets)])).all()


def test_wrong_labels_are_found_and_second_guesses_are_not() -> None:
    random = np.random.default_rng(0)
    truth = random.integers(0, 8, 3000)
    signals = random.normal(size=(2, 3000, 8))
    signals[0, np.arange(3000), truth] += 4.0
    labels = truth.copy()
    wrong = np.arange(600)
    labels[wrong] = (truth[wrong] + random.integers(1, 8, wrong.size)) % 8
    start = mixture_weights([(signals, labels)])
    noise, (right,) = label_noise([(signals, labels)], start)
    # A label that is drawn at random is the true one at times: 0.2 * 8 / 7.
    assert abs(noise - 0.229) < 0.03
    assert right[wrong].mean() < 0.2
    assert right[600:].mean() > 0.9
    clean, (trusted,) = label_noise([(signals, truth)], start)
    assert clean < 0.01
    assert trusted.min() > 0.5
