"""Validate values against their type annotations: type, allowed choices and range."""

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from math import isfinite
from numbers import Integral, Real
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.build import owner_name
from nodegraft.base.parameters.constraints import Range
from nodegraft.base.problems import Problems

_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def validate(instance: Any) -> None:
    """Check all constructor parameters of a dataclass; raise one error that lists all problems.

    >>> from dataclasses import dataclass
    >>> @dataclass(kw_only=True)
    ... class Plan:
    ...     hops: Annotated[int, Range(0)] = 2
    >>> validate(Plan(hops=-1))
    Traceback (most recent call last):
    nodegraft.base.errors.ParameterError: Plan: hops must be a whole number at least 0, not -1.

    Args:
        instance: Dataclass instance; error messages call it by its class attribute ``described_as``
            or ``name``.
    """
    cls: Any = type(instance)
    owner, problems = owner_name(cls), Problems()
    for name, kind in _hints(cls).items():
        value = getattr(instance, name)
        if getattr(value, "shape", None) == ():
            # Convert NumPy scalars to Python numbers, which can be written as JSON.
            value = value.item()
            object.__setattr__(instance, name, value)
        with problems.collect():
            validate_value(f"{owner}: {name}", value, kind)
        if type(value) is int and _takes_only_floats(kind):
            # Convert whole numbers to int, so that 8 and 8.0 give the same run record.
            object.__setattr__(instance, name, float(value))
    problems.raise_all()


def validate_value(name: str, value: Any, kind: Any) -> None:
    """Raise ParameterError if a value does not match a type annotation.

    Args:
        name: Name of the value in the error message.
        kind: Type annotation: plain types, ``Literal``, unions, lists, tuples and mappings of
            these, and ``Annotated`` with a :class:`Range`.
    """
    if not _fits(value, kind):
        raise ParameterError(f"{name} must be {described(kind)}, not {value!r}.")


def _takes_only_floats(kind: Any) -> bool:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _takes_only_floats(arguments[0])
    if origin in (Union, types.UnionType):
        others = [argument for argument in arguments if argument is not type(None)]
        return all(_takes_only_floats(other) for other in others)
    return kind is float


@cache
def _hints(cls: Any) -> dict[str, Any]:
    hints = get_type_hints(cls, include_extras=True)
    return {field.name: hints[field.name] for field in fields(cls) if field.init}


def _fits(value: Any, kind: Any) -> bool:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        inner, *rules = arguments
        ranges = (rule for rule in rules if isinstance(rule, Range))
        return _fits(value, inner) and all(rule.allows(value) for rule in ranges)
    if origin in (Union, types.UnionType):
        return any(_fits(value, argument) for argument in arguments)
    if origin is Literal:
        return any(value == argument and type(value) is type(argument) for argument in arguments)
    if origin is not None:
        return _fits_container(value, origin, arguments)
    if kind is Any:
        return True
    if kind is None or kind is type(None):
        return value is None
    if kind is bool:
        return isinstance(value, bool)
    if kind is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if kind is float:
        return not isinstance(value, bool) and isinstance(value, Real) and isfinite(value)
    return isinstance(value, kind)


def _fits_container(value: Any, origin: Any, arguments: tuple[Any, ...]) -> bool:
    if not isinstance(value, origin) or isinstance(value, str):
        return False
    if isinstance(value, Mapping):
        names, values = arguments
        return all(_fits(item, names) for item in value) and all(
            _fits(item, values) for item in value.values()
        )
    if isinstance(value, Sequence):
        return all(_fits(item, arguments[0]) for item in value)
    return True


def described(kind: Any) -> str:
    """Describe a type annotation in words.

    >>> described(Annotated[int, Range(1)] | None), described(Literal["off", "set"])
    ('a whole number at least 1 or none', "one of 'off', 'set'")
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        inner, *rules = arguments
        return " ".join([described(inner), *(str(r) for r in rules if isinstance(r, Range))])
    if origin in (Union, types.UnionType):
        return " or ".join(described(argument) for argument in arguments)
    if origin is Literal:
        return "one of " + ", ".join(map(repr, arguments))
    if kind is type(None):
        return "none"
    if origin is not None and issubclass(origin, Mapping):
        inner = "" if arguments[1] is Any else f" of {described(arguments[1])}"
        return "a table" + inner
    if origin is not None:
        return f"a list, each {described(arguments[0])}"
    return _NAMES.get(kind, f"of type {getattr(kind, '__name__', kind)}")
