"""Device of training, and the only place where tensors are copied to it.

Initial weights and random draws are made on the CPU, so that they do not depend on the device.
Networks are on the training device while they are trained; learned attributes of a model are on the
CPU, so that a saved model loads, and predicts, on every machine.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.base.errors import ParameterError

Device = Literal["auto", "cpu", "cuda"]
"""Device of training: ``"auto"`` is CUDA if PyTorch has a CUDA device, otherwise the CPU."""

CPU = torch.device("cpu")


def training_device(device: Device) -> torch.device:
    """Return the torch device of training; raise ParameterError if this machine does not have it.

    >>> training_device("cpu")
    device(type='cpu')
    """
    has_cuda = torch.cuda.is_available()
    if device == "cuda" and not has_cuda:
        raise ParameterError(
            f"device is 'cuda', but PyTorch {torch.__version__} has no CUDA device on this "
            "machine: give device='auto' or device='cpu', or install a CUDA build of PyTorch."
        )
    return torch.device("cuda" if has_cuda and device != "cpu" else "cpu")


@contextmanager
def placed(network: nn.Module, device: torch.device) -> Iterator[None]:
    """Move a network to a device for the ``with`` block, and back to its own device afterwards.

    Args:
        network: Network with at least one parameter; it is modified in place.
    """
    before = device_of(network)
    network.to(device)
    try:
        yield
    finally:
        network.to(before)


def device_of(network: nn.Module) -> torch.device:
    """Return the device of a network's weights."""
    return next(network.parameters()).device


def to_tensor(array: NDArray[Any], device: torch.device) -> Tensor:
    """Convert an array to a tensor on a device; on the CPU, both share memory.

    Args:
        device: Device of the other tensors that the result is used with.
    """
    return torch.from_numpy(array).to(device)
