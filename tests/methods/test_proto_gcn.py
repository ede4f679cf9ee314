import numpy as np
import pytest
import torch

from nodegraft.methods.proto_gcn import ProtoGCN
from nodegraft.streams.stream import ClassStream
from tests.contract.streams import small_stream


def fitted(stream: ClassStream, **parameters: object) -> ProtoGCN:
    model = ProtoGCN(max_epochs=4, **parameters)  # type: ignore[arg-type]
    return model.fit(stream.session(0).view, stream.curriculum)


@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
def test_scores_are_minus_squared_distances_to_the_means(sparse: bool) -> None:
    stream = small_stream(sparse)
    model, means = fitted(stream), []
    for session in (stream.session(0), stream.session(1)):
        if session.index:
            model.add_classes(session.view, session.support)
        for rows in session.support.values():
            vectors = np.stack([np.asarray(model.embed(session.view, [row]))[0] for row in rows])
            means.append(vectors.astype(np.float64).mean(axis=0))
    view, asked = session.view, session.query.rows()[::7]
    vectors = np.asarray(model.embed(view, asked.tolist()), dtype=np.float64)
    expected = [[-sum((z - p) ** 2) for p in means] for z in vectors]
    np.testing.assert_allclose(model.score_rows(view, asked), expected, rtol=1e-4, atol=1e-6)
    shares = np.exp(expected) / np.exp(expected).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(view, asked.tolist()), shares, atol=1e-5)


def test_old_means_and_the_encoder_stay_as_they_were() -> None:
    stream = small_stream()
    model = fitted(stream)
    means, encoder = model.prototypes_, model.encoder_
    session = stream.session(1)
    model.add_classes(session.view, session.support)
    assert torch.equal(model.prototypes_[: len(means)], means)
    assert model.encoder_ is encoder


def test_pretraining_on_all_known_classes_is_another_encoder() -> None:
    stream = small_stream()
    base, known = fitted(stream), fitted(stream, pretrain_on="known")
    assert base.classes_ == known.classes_ == stream.split.known
    weights = base.encoder_["weights.0"], known.encoder_["weights.0"]
    assert not torch.equal(*weights)


def test_sizes_and_epochs_are_those_asked_for() -> None:
    model = fitted(small_stream(), hidden=5, out=3)
    assert model.encoder_["weights.0"].shape == (40, 5)
    assert model.prototypes_.shape == (5, 3)
