import torch

from nodegraft.methods.neural.encoders import GCN
from nodegraft.methods.templates.classifying import Classifier
from tests.graph.reference import random_graph


def classifier() -> Classifier:
    encoder = GCN([7, 5, 3], torch.Generator().manual_seed(0))
    head = torch.randn(4, 3, generator=torch.Generator().manual_seed(1))
    return Classifier(encoder, head)


def test_scores_are_embeddings_times_the_head() -> None:
    model, neighbourhood = classifier(), random_graph().full_batch(2)
    expected = model.encoder(neighbourhood) @ model.head.T
    assert torch.equal(model(neighbourhood), expected)


def test_the_head_is_its_own_copy() -> None:
    head = torch.zeros(2, 3)
    model = Classifier(GCN([7, 3], torch.Generator()), head)
    with torch.no_grad():
        model.head.add_(1.0)
    assert head.sum() == 0


def test_more_classes_leave_the_old_rows_and_draw_the_new_ones_by_seed() -> None:
    model = classifier()
    first, second = (model.with_more_classes(3, torch.Generator().manual_seed(5)) for _ in range(2))
    assert first.head.shape == (7, 3)
    assert torch.equal(first.head[:4], model.head)
    assert torch.equal(first.head, second.head)
    other = model.with_more_classes(3, torch.Generator().manual_seed(6))
    assert not torch.equal(first.head[4:], other.head[4:])
