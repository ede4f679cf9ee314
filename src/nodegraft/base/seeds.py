"""Named, independent random generators derived from one seed.

The global generators of NumPy and torch are not used.
"""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Seeds:
    """Random generators derived from one seed; equal names give equal random numbers.

    >>> first, second = (Seeds(7).generator("gpil").integers(100, size=3) for _ in range(2))
    >>> first.tolist() == second.tolist()
    True
    >>> Seeds(7).number("a") == Seeds(7).number("b")
    False
    """

    seed: int
    """Seed from which all generators are derived."""

    def number(self, *names: str) -> int:
        """Return a 63-bit integer derived from the seed and the given names."""
        text = "\x00".join((str(self.seed), *names))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1

    def generator(self, *names: str) -> np.random.Generator:
        """Return the NumPy generator for the given names."""
        return np.random.default_rng(self.number(*names))

    def torch_generator(self, *names: str) -> "torch.Generator":
        """Return the torch generator (CPU) for the given names."""
        import torch  # This import takes seconds, and models in closed form do not need it.

        return torch.Generator().manual_seed(self.number(*names))
