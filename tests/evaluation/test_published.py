from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from nodegraft.base.errors import NotSupportedError
from nodegraft.datasets.synthetic import Synthetic
from nodegraft.evaluation.published import PUBLISHED, QUERIES, evaluate_published
from nodegraft.model.capability import Capability
from nodegraft.model.method import Method
from nodegraft.model.registry import REGISTRY
from nodegraft.streams.stream import ClassStream
from tests.contract.streams import quick

LEAKY = [
    name for name in REGISTRY.names() if Capability.PUBLISHED in REGISTRY.get(name).capabilities()
]


def hard_stream(seed: int) -> ClassStream:
    loaded = Synthetic(nodes=1500, classes=15, homophily=0.5, signal=1.5).load()
    return loaded.stream(seed=seed, arrival="with-class")


def test_the_prototype_methods_can_be_evaluated_as_published() -> None:
    assert {"proto-gcn", "sgc-mean"} <= set(LEAKY)


def test_twenty_queries_a_class_are_drawn_by_seed() -> None:
    stream = hard_stream(0)
    first = evaluate_published(quick("sgc-mean"), stream)
    assert first.sessions[-1].queries_by_class == dict.fromkeys(
        first.sessions[-1].queries_by_class, QUERIES
    )
    again = evaluate_published(quick("sgc-mean"), stream)
    assert [one.recall for one in first.sessions] == [one.recall for one in again.sessions]


def test_its_name_carries_the_word() -> None:
    assert "leaky" in PUBLISHED


def test_a_method_without_the_hook_is_refused() -> None:
    @dataclass(kw_only=True)
    class Honest(Method):
        name: ClassVar[str] = "honest"
        summary: ClassVar[str] = "cannot leak"

        def learn_base(self, *_: Any) -> None: ...
        def learn_classes(self, *_: Any) -> None: ...
        def score(self, view: Any, rows: Any) -> Any:
            return np.zeros((len(rows), len(self.classes_)))

    with pytest.raises(NotSupportedError, match="as published"):
        evaluate_published(Honest(), hard_stream(0))
