"""Methods whose training is cut short: the contract is about rules, not accuracy."""

from dataclasses import fields
from typing import Any

from nodegraft.evaluation import checks
from nodegraft.model.method import Method
from nodegraft.model.registry import REGISTRY
from nodegraft.streams.arrival import Arrival
from nodegraft.streams.stream import ClassStream

LIMITS = {"max_epochs": 10, "steps": 20, "episodes": 3, "ways": 2, "adapt_steps": 2, "features": 64}


def quick(name: str, **parameters: Any) -> Method:
    """A method by name, with few epochs, steps and episodes."""
    cls = REGISTRY.get(name)
    known = {field.name for field in fields(cls)}
    return cls(**{name: LIMITS[name] for name in LIMITS if name in known} | parameters)


def small_stream(sparse: bool = True, arrival: Arrival = "with-class") -> ClassStream:
    """The stream of the leak checks; by default one in which all nodes of a class come at once."""
    return checks.small_stream(sparse, arrival=arrival)
