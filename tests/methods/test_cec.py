import numpy as np
import torch

from nodegraft.methods.cec import CEC
from nodegraft.methods.neural.prototypes import cosines
from nodegraft.methods.proto_gcn import ProtoGCN
from nodegraft.model.hooks import Capability
from tests.contract.streams import quick, small_stream


def fitted(**parameters: object) -> CEC:
    stream = small_stream()
    model = quick("cec", **parameters)
    assert isinstance(model, CEC)
    return model.fit(stream.session(0).view, stream.curriculum)


def test_practice_moves_the_attention_and_not_the_encoder() -> None:
    stream, model = small_stream(), fitted()
    plain = quick("proto-gcn").fit(stream.session(0).view, stream.curriculum)
    assert isinstance(plain, ProtoGCN)
    for name, value in plain.encoder_.items():
        assert torch.equal(model.network_[f"encoder.{name}"], value)
    assert torch.equal(model.prototypes_, plain.prototypes_)
    idle = fitted(episodes=0)
    assert not torch.equal(model.network_["attention.value"], idle.network_["attention.value"])


def test_without_practice_it_is_the_cosine_to_class_means() -> None:
    stream, model = small_stream(), fitted(episodes=0, temperature=10.0)
    view, rows = stream.session(0).view, np.sort(stream.split.test.rows())
    expected = 10.0 * cosines(model.embedding(view, rows), model.prototypes_)
    np.testing.assert_allclose(model.score_rows(view, rows), expected, rtol=1e-6)


def test_old_classifiers_adapt_to_new_classes_while_their_means_stay() -> None:
    stream, model = small_stream(), fitted()
    means, session = model.prototypes_, stream.session(1)
    rows = np.sort(session.query.rows())
    before = model.score_rows(session.view, rows)
    model.add_classes(session.view, session.support)
    assert torch.equal(model.prototypes_[:5], means)
    after = model.score_rows(session.view, rows)
    assert after.shape[1] == 7
    assert not np.array_equal(after[:, :5], before)
    assert Capability.REMOVE_CLASSES not in model.capabilities()


def test_scores_lie_within_the_temperature() -> None:
    stream, model = small_stream(), fitted()
    scores = model.score_rows(stream.session(0).view, stream.split.test.rows())
    assert np.abs(scores).max() <= 16.0 + 1e-5
