"""Named, independent random generators from one integer; the global ones are never touched."""

import hashlib
from dataclasses import dataclass

import numpy as np
import torch


@dataclass(frozen=True)
class Seeds:
    """A family of generators: the same seed and name always give the same numbers.

    >>> first, second = (Seeds(7).generator("gpil").integers(100, size=3) for _ in range(2))
    >>> first.tolist() == second.tolist()
    True
    >>> Seeds(7).number("a") == Seeds(7).number("b")
    False
    """

    seed: int
    """The number all generators of the family come from."""

    def number(self, *names: str) -> int:
        """Return a 63-bit integer for this name."""
        text = "\x00".join((str(self.seed), *names))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1

    def generator(self, *names: str) -> np.random.Generator:
        """Return a NumPy generator for this name."""
        return np.random.default_rng(self.number(*names))

    def torch_generator(self, *names: str) -> torch.Generator:
        """Return a torch generator (CPU) for this name."""
        return torch.Generator().manual_seed(self.number(*names))
