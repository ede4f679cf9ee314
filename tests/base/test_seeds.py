import numpy as np
import torch

from nodegraft.base.seeds import Seeds


def test_a_name_gives_the_same_numbers_for_ever() -> None:
    assert Seeds(7).number("gpil") == 3000693588178562029
    assert Seeds(7).generator("gpil").integers(1000, size=3).tolist() == [13, 260, 901]


def test_seeds_and_names_are_independent() -> None:
    numbers = {Seeds(seed).number(*names) for seed in range(50) for names in ("a", "b", ("a", "b"))}
    assert len(numbers) == 150
    assert all(0 <= number < 2**63 for number in numbers)


def test_torch_gets_the_same_seed() -> None:
    first = torch.rand(5, generator=Seeds(7).torch_generator("x"))
    assert torch.equal(first, torch.rand(5, generator=Seeds(7).torch_generator("x")))
    assert not torch.equal(first, torch.rand(5, generator=Seeds(8).torch_generator("x")))


def test_no_global_generator_is_touched() -> None:
    torch_before, numpy_before = torch.get_rng_state(), str(np.random.get_state())  # noqa: NPY002
    torch.rand(5, generator=Seeds(7).torch_generator("x"))
    Seeds(7).generator("x").random(5)
    assert torch.equal(torch.get_rng_state(), torch_before)
    assert str(np.random.get_state()) == numpy_before  # noqa: NPY002
