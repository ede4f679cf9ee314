"""Create keyword-only dataclasses from parameter values or from command-line strings."""

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from nodegraft.base.errors import ParameterError
from nodegraft.base.problems import Problems

T = TypeVar("T")

_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parameters_of(owner: Any) -> dict[str, Any]:
    """Return the constructor parameters of a dataclass instance as a dict from name to value.

    >>> from dataclasses import dataclass
    >>> @dataclass(kw_only=True)
    ... class Plan:
    ...     epochs: int = 10
    >>> parameters_of(Plan(epochs=3))
    {'epochs': 3}
    """
    return {field.name: getattr(owner, field.name) for field in fields(owner) if field.init}


def build(cls: type[T], values: Mapping[str, Any]) -> T:
    """Create a keyword-only dataclass; unknown or missing names raise ParameterError."""
    known = [field.name for field in fields(cls) if field.init]  # type: ignore[arg-type]
    problems = Problems()
    for name in values:
        with problems.collect():
            if name not in known:
                close = get_close_matches(str(name), known, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise ParameterError(
                    f"{owner_name(cls)} has no parameter {name!r}.{hint} "
                    f"It has {', '.join(known) or 'none'}."
                )
    missing = [field.name for field in fields(cls) if field.init and _is_required(field)]  # type: ignore[arg-type]
    for name in missing:
        with problems.collect():
            if name not in values:
                raise ParameterError(f"{owner_name(cls)} needs {name!r}.")
    problems.raise_all()
    return cls(**values)


def _is_required(parameter: "Field[Any]") -> bool:
    return parameter.default is MISSING and parameter.default_factory is MISSING


def owner_name(cls: type) -> str:
    """Return the name of a dataclass for error messages.

    This is its class attribute ``described_as`` or ``name``, otherwise the name of the class.
    """
    candidates = (getattr(cls, name, None) for name in ("described_as", "name"))
    return next((text for text in candidates if isinstance(text, str)), cls.__name__)


def parse(cls: type[T], texts: Mapping[str, str]) -> T:
    """Like :func:`build`, but first convert every value from a string to the type of its field."""
    return build(cls, read(cls, texts))


def read(cls: type[T], texts: Mapping[str, str]) -> dict[str, Any]:
    """Convert each value from a string to the type of its dataclass field.

    >>> from dataclasses import dataclass
    >>> @dataclass(kw_only=True)
    ... class Plan:
    ...     epochs: int = 10
    ...     rate: float = 0.1
    >>> read(Plan, {"epochs": "3"})
    {'epochs': 3}
    """
    hints, values, problems = get_type_hints(cls), dict[str, Any](), Problems()
    for name, text in texts.items():
        with problems.collect():
            values[name] = _read(name, text, hints.get(name, str))
    problems.raise_all()
    return values


def _read(name: str, text: str, kind: Any) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        inner = [argument for argument in get_args(kind) if argument is not type(None)]
        if text.lower() == "none":
            return None
        if text in [choice for part in inner for choice in get_args(part)]:
            return text
        return _read(name, text, inner[0])
    if get_origin(kind) is Literal:
        if text in get_args(kind):
            return text
        raise ParameterError(f"{name} is one of {', '.join(get_args(kind))}, not {text!r}.")
    try:
        return _TRUTH[text.lower()] if kind is bool else kind(text)
    except (KeyError, ValueError):
        expected = {int: "a whole number", float: "a number", bool: "true or false"}
        described = expected.get(kind, f"of type {kind.__name__}")
        raise ParameterError(f"{name} must be {described}, not {text!r}.") from None
