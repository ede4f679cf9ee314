"""Graft: a closed-form method that learns nothing but labels and a handful of weights."""

from nodegraft.methods.graft.model import Graft

__all__ = ["Graft"]
