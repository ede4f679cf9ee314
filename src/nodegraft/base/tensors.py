"""Check for tensors without importing torch, which takes seconds."""

import sys
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from torch import Tensor


def is_tensor(value: Any) -> "TypeGuard[Tensor]":
    """Return whether a value is a torch tensor; without torch in this process, none is.

    >>> is_tensor(3.0)
    False
    """
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)
