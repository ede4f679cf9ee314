import numpy as np
import torch

from nodegraft.methods.teen import TEEN, calibrate
from tests.contract.streams import small_stream
from tests.graph.reference import Dense, dense

BASE = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)


def test_calibration_on_written_out_numbers() -> None:
    fresh = torch.tensor([[0.8, 0.6]], dtype=torch.float64)
    # Cosines are 0.8 and 0.6; with tau 5 the softmax is e^4 : e^3.
    share = np.exp(4) / (np.exp(4) + np.exp(3))
    expected = [[0.7 * 0.8 + 0.3 * share, 0.7 * 0.6 + 0.3 * (1 - share)]]
    np.testing.assert_allclose(calibrate(fresh, BASE, alpha=0.7, tau=5.0), expected, rtol=1e-12)


def test_a_sharp_softmax_goes_halfway_to_the_most_similar() -> None:
    fresh = torch.tensor([[0.6, 0.8]], dtype=torch.float64)
    halfway = calibrate(fresh, BASE, alpha=0.5, tau=1000.0)
    np.testing.assert_allclose(halfway, [[0.3, 0.9]], atol=1e-12)


def unit(rows: Dense) -> Dense:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True))


def test_scores_are_the_formula() -> None:
    stream = small_stream()
    model = TEEN(max_epochs=4, alpha=0.4, tau=3.0)
    model.fit(stream.session(0).view, stream.curriculum)
    means: list[Dense] = []
    for session in (stream.session(0), stream.session(1)):
        if session.index:
            model.add_classes(session.view, session.support)
        taught = (model.embed(session.view, rows.tolist()) for rows in session.support.values())
        means += [dense(vectors).mean(axis=0) for vectors in taught]
    known = len(stream.split.known)
    centre = np.mean(means[:known], axis=0)
    prototypes = unit(np.stack(means) - centre)
    for new in range(known, len(means)):
        powers = np.exp(3.0 * prototypes[:known] @ prototypes[new])
        drawn = powers / powers.sum() @ prototypes[:known]
        prototypes[new] = 0.4 * prototypes[new] + 0.6 * drawn
    asked = session.query.rows()[::7]
    vectors = dense(model.embed(session.view, asked.tolist()))
    expected = unit(vectors - centre) @ unit(prototypes).T
    np.testing.assert_allclose(model.score_rows(session.view, asked), expected, atol=1e-6)


def test_with_alpha_1_nothing_is_drawn_anywhere() -> None:
    stream, prototypes = small_stream(), {}
    for alpha in (1.0, 0.5):
        model = TEEN(max_epochs=4, alpha=alpha)
        model.fit(stream.session(0).view, stream.curriculum)
        before = model.prototypes_
        model.add_classes(stream.session(1).view, stream.session(1).support)
        assert torch.equal(model.prototypes_[: len(before)], before)
        prototypes[alpha] = model.prototypes_[len(before) :]
    np.testing.assert_allclose(prototypes[1.0].norm(dim=1), 1.0)
    assert not torch.allclose(prototypes[0.5], prototypes[1.0], atol=0.01)


def test_only_what_is_left_of_session_0_calibrates() -> None:
    stream = small_stream()
    model = TEEN(max_epochs=4).fit(stream.session(0).view, stream.curriculum)
    first, second = stream.session(1), stream.session(2)
    model.add_classes(first.view, first.support)
    model.remove_classes([stream.split.known[0], first.support.classes[0]])
    assert model.base_ == len(stream.split.known) - 1
    model.remove_classes(stream.split.known[1:])
    model.add_classes(second.view, second.support)
    # Nobody left to be drawn to: the direction is that of the plain mean.
    np.testing.assert_allclose(model.prototypes_[1:].norm(dim=1), 0.5)
