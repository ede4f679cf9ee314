from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Optional

import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.build import build, parse


@dataclass(kw_only=True)
class Plan:
    name: ClassVar[str] = "plan"

    epochs: int = 10
    rate: float = 0.1
    label: str = "x"
    deep: bool = False
    kind: Literal["base", "known"] = "base"
    limit: int | None = 3
    old: Optional[float] = None  # noqa: UP045
    computed: int = field(default=0, init=False)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("epochs", "-3", -3),
        ("rate", "1e-3", 0.001),
        ("rate", "2", 2.0),
        ("label", "3", "3"),
        ("label", "none", "none"),
        ("deep", "Yes", True),
        ("deep", "0", False),
        ("kind", "known", "known"),
        ("limit", "7", 7),
        ("limit", "None", None),
        ("old", "0.5", 0.5),
        ("old", "none", None),
    ],
)
def test_text_is_read_by_the_type_of_its_field(name: str, text: str, value: Any) -> None:
    found = getattr(parse(Plan, {name: text}), name)
    assert found == value
    assert type(found) is type(value)


def test_what_is_not_given_keeps_its_default() -> None:
    assert parse(Plan, {}) == build(Plan, {}) == Plan()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("epochs", "3.5", "epochs must be a whole number, not '3.5'"),
        ("rate", "fast", "rate must be a number, not 'fast'"),
        ("deep", "maybe", "deep must be true or false, not 'maybe'"),
        ("kind", "novel", "kind is one of base, known, not 'novel'"),
        ("limit", "x", "limit must be a whole number, not 'x'"),
        ("speed", "1", "plan has no parameter 'speed'. It has epochs, rate, label"),
        ("computed", "1", "plan has no parameter 'computed'"),
    ],
)
def test_what_cannot_be_read_is_named(name: str, text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse(Plan, {name: text})


def test_values_go_in_as_they_are() -> None:
    assert build(Plan, {"epochs": 3, "limit": None}) == Plan(epochs=3, limit=None)
    with pytest.raises(ParameterError, match="has no parameter 'epoch'"):
        build(Plan, {"epoch": 3})


def test_all_wrong_names_and_texts_are_listed() -> None:
    with pytest.raises(ParameterError, match=r"(?s)2 problems:.*'epoch'.*'rat'"):
        build(Plan, {"epoch": 3, "rat": 1})
