import numpy as np
import torch

from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.gpn import GPN
from nodegraft.methods.proto_gcn import ProtoGCN
from tests.contract.streams import quick, small_stream


def fitted(**parameters: object) -> GPN:
    stream = small_stream()
    model = quick("gpn", **parameters)
    assert isinstance(model, GPN)
    return model.fit(stream.session(0).view, stream.curriculum)


def test_prototypes_of_all_classes_are_weighed_by_the_valuator() -> None:
    stream, model = small_stream(), fitted()
    session = stream.session(1)
    model.add_classes(session.view, session.support)
    for view, support, found in (
        (stream.session(0).view, stream.split.train, model.prototypes_[:5]),
        (session.view, session.support, model.prototypes_[5:]),
    ):
        weights = model.network().support_weights(view, support).detach()
        vectors = model.network().embed(view, support.rows()).detach() * weights[:, None]
        sizes = [rows.size for rows in support.values()]
        by_hand = torch.stack([part.sum(dim=0) for part in torch.split(vectors, sizes)])
        torch.testing.assert_close(found, by_hand)
        sums = torch.stack([part.sum() for part in torch.split(weights, sizes)])
        torch.testing.assert_close(sums, torch.ones(len(support)))


def test_practice_moves_encoder_and_valuator() -> None:
    stream, idle, model = small_stream(), fitted(episodes=0), fitted()
    plain = quick("proto-gcn").fit(stream.session(0).view, stream.curriculum)
    assert isinstance(plain, ProtoGCN)
    assert torch.equal(idle.network_["encoder.weights.0"], plain.encoder_["weights.0"])
    for name in ("encoder.weights.0", "node_attention.weight"):
        assert not torch.equal(model.network_[name], idle.network_[name])
    assert not any(name.startswith("task_attention") for name in model.network_)


def test_classes_of_a_single_node_leave_nothing_to_practise() -> None:
    graph = small_stream()._graph
    model = GPN(max_epochs=2, episodes=3).fit(graph, NodeLabels({"a": [0], "b": [1]}))
    assert np.isfinite(model.score_rows(graph, np.arange(9))).all()
