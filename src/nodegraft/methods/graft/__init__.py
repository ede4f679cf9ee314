"""Graft: a closed-form method whose model consists of labels and a few fitted weights."""

from nodegraft.methods.graft.model import Graft

__all__ = ["Graft"]
