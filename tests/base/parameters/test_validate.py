from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.constraints import (
    Fraction,
    FractionBelowOne,
    NonNegativeFloat,
    NonNegativeInt,
    OpenFraction,
    PositiveFloat,
    PositiveInt,
    Range,
)
from nodegraft.base.parameters.validate import described, validate, validate_value
from nodegraft.lab.datasets.templates.dataset import REGISTRY as DATASETS


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (int, [0, -3, np.int64(7)], [1.0, "1", None, True, [1]]),
        (float, [0, 0.5, -1, np.float32(2)], ["0.5", None, float("nan"), float("inf"), True]),
        (bool, [True, False], [0, 1, "true", None]),
        (str, ["", "a"], [1, None, b"a"]),
        (NonNegativeInt, [0, 1], [-1, 0.0, True]),
        (PositiveInt, [1], [0, -1]),
        (NonNegativeFloat, [0, 0.0, 2], [-0.1]),
        (PositiveFloat, [0.1], [0, 0.0]),
        (Fraction, [0, 1, 0.5], [-0.1, 1.1]),
        (OpenFraction, [0.5], [0, 1, 0.0, 1.0]),
        (FractionBelowOne, [0, 0.9], [1, 1.0]),
        (PositiveInt | None, [None, 3], [0, "none"]),
        (Literal["off", "set"], ["off"], ["of", None, 1]),
        (Literal[0, 1], [0], [True, 0.0]),
        (Sequence[PositiveInt], [[1, 2], (3,), []], [[0], 3, "12", None]),
        (tuple[str, ...], [("a",), ()], [["a"], "a", (1,)]),
        (Mapping[str, PositiveInt], [{}, {"a": 1}], [{"a": 0}, {1: 1}, [1]]),
        (Any, [None, object()], []),
    ],
)
def test_what_fits_and_what_does_not(kind: Any, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        validate_value("it", value, kind)
    for value in bad:
        with pytest.raises(ParameterError, match="it must be"):
            validate_value("it", value, kind)


@dataclass(kw_only=True)
class Plan:
    """Something with parameters."""

    name: ClassVar[str] = "plan"
    hops: NonNegativeInt = 2
    kept: list[int] = field(init=False)


def test_the_error_names_owner_parameter_and_what_is_allowed() -> None:
    validate(Plan())
    with pytest.raises(
        ParameterError, match="plan: hops must be a whole number at least 0, not 'x'"
    ):
        validate(Plan(hops="x"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Annotated[float, Range(0, 1, above=True)], "a number above 0 and at most 1"),
        (Annotated[float, Range(high=3, below=True)], "a number below 3"),
        (Sequence[NonNegativeInt] | None, "a list, each a whole number at least 0 or none"),
        (Mapping[str, str], "a table of text"),
        (dict, "of type dict"),
    ],
)
def test_annotations_are_told_in_words(kind: Any, words: str) -> None:
    assert described(kind) == words


def test_every_number_of_every_dataset_has_its_range() -> None:
    """A plain int or float says nothing of what is allowed. (Methods: see the contract.)"""
    from typing import get_type_hints

    for name in DATASETS.names():
        cls: Any = DATASETS.get(name)
        hints = get_type_hints(cls, include_extras=True)
        for one in cls.__dataclass_fields__.values():
            if one.init and one._field_type.name == "_FIELD":
                assert hints[one.name] not in (int, float, int | None, float | None), one.name
