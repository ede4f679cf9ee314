"""Fields of a dataclass from text, as ``--set name=value`` gives them."""

import types
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from nodegraft.base.errors import ParameterError

T = TypeVar("T")

_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def build(cls: type[T], values: Mapping[str, Any]) -> T:
    """An instance of a keyword-only dataclass; a name it does not have is an error that helps."""
    known = [field.name for field in fields(cls) if field.init]  # type: ignore[arg-type]
    for name in values:
        if name not in known:
            raise ParameterError(
                f"{getattr(cls, 'name', cls.__name__)} has no parameter {name!r}; "
                f"it has {', '.join(known) or 'none'}."
            )
    return cls(**values)


def parse(cls: type[T], texts: Mapping[str, str]) -> T:
    """The same from texts."""
    return build(cls, read(cls, texts))


def read(cls: type[T], texts: Mapping[str, str]) -> dict[str, Any]:
    """Values from texts, each read by the type of its field.

    >>> from dataclasses import dataclass
    >>> @dataclass(kw_only=True)
    ... class Plan:
    ...     epochs: int = 10
    ...     rate: float = 0.1
    >>> read(Plan, {"epochs": "3"})
    {'epochs': 3}
    """
    hints = get_type_hints(cls)
    return {name: _read(name, text, hints.get(name, str)) for name, text in texts.items()}


def _read(name: str, text: str, kind: Any) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        inner = [one for one in get_args(kind) if one is not type(None)]
        return None if text.lower() == "none" else _read(name, text, inner[0])
    if get_origin(kind) is Literal:
        if text in get_args(kind):
            return text
        raise ParameterError(f"{name} is one of {', '.join(get_args(kind))}, not {text!r}.")
    try:
        return _TRUTH[text.lower()] if kind is bool else kind(text)
    except (KeyError, ValueError):
        raise ParameterError(f"{name} must be of type {kind.__name__}, not {text!r}.") from None
