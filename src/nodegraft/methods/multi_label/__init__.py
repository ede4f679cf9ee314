"""Classifier for nodes with any number of classes, in closed form."""

from nodegraft.methods.multi_label.model import MultiLabel

__all__ = ["MultiLabel"]
