from nodegraft.methods.proto_gat import ProtoGAT
from tests.contract.streams import small_stream


def test_it_is_the_prototype_classifier_on_graph_attention() -> None:
    stream = small_stream()
    model = ProtoGAT(max_epochs=2, hidden=6, out=4, heads=3)
    model.fit(stream.session(0).view, stream.curriculum)
    assert model.encoder_["weights.0"].shape == (40, 6)
    assert model.encoder_["layers.0.att_src"].shape == (1, 3, 2)
    assert model.encoder_["layers.1.att_src"].shape == (1, 1, 4)
    assert model.prototypes_.shape == (5, 4)
