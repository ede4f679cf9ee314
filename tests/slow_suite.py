"""What ``.ci/slow`` runs more of than the gate does."""

import os

import pytest

IS_SLOW = os.environ.get("NODEGRAFT_SLOW") == "1"

slow = pytest.mark.slow


def examples(thorough: int, quick: int) -> int:
    """How many random cases are tried, here and now."""
    return thorough if IS_SLOW else quick
