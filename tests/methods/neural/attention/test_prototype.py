import torch
from torch import Tensor

from nodegraft.methods.neural.learners.prototypes import PrototypeAttention


def attention(size: int = 4) -> PrototypeAttention:
    draws = torch.Generator().manual_seed(0)
    made = PrototypeAttention(size, draws)
    with torch.no_grad():
        made.value.uniform_(-1, 1, generator=draws)
    return made


def prototypes(classes: int = 6) -> Tensor:
    return torch.randn(classes, 4, generator=torch.Generator().manual_seed(classes))


def test_it_does_not_matter_in_which_order_classes_come() -> None:
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    adapt, rows = attention(), prototypes()
    torch.testing.assert_close(adapt(rows[order]), adapt(rows)[order])
    torch.testing.assert_close(adapt.weights(rows[order]), adapt.weights(rows)[order][:, order])


def test_the_weights_of_a_class_sum_to_one() -> None:
    for classes in (1, 2, 30):
        weights = attention().weights(prototypes(classes))
        assert weights.shape == (classes, classes)
        assert (weights > 0).all()
        torch.testing.assert_close(weights.sum(dim=1), torch.ones(classes))


def test_it_follows_its_equation() -> None:
    adapt, rows = attention(), prototypes(3)
    for place, row in enumerate(rows):
        products = torch.stack([(adapt.query @ row) @ (adapt.key @ other) for other in rows])
        shares = torch.softmax(products / 2.0, dim=0)
        by_hand = row + sum(
            share * (adapt.value @ other) for share, other in zip(shares, rows, strict=True)
        )
        torch.testing.assert_close(adapt(rows)[place], by_hand)


def test_it_starts_from_the_plain_prototypes() -> None:
    fresh = PrototypeAttention(4, torch.Generator().manual_seed(0))
    assert torch.equal(fresh(prototypes()), prototypes())
