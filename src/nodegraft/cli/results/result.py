"""Base of what commands return: JSON objects whose fields are declared and described."""

import inspect
import re
from dataclasses import fields
from types import UnionType
from typing import Any, ClassVar, Union, get_args, get_origin

_FIELD = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


class Result:
    """Result of a command: a dataclass whose fields are those of its JSON object.

    The docstring describes every field under ``Args:``. Where HTTP has the same object, both have
    the same fields.
    """

    TABLE: ClassVar[str] = ""
    """Field that is a list of rows, for --csv and --parquet; empty without one."""

    @classmethod
    def columns(cls) -> list[str]:
        """Return the names of the columns of the table."""
        (row,) = parts_of(cls.__dataclass_fields__[cls.TABLE].type)  # type: ignore[attr-defined]
        return list(described_fields(row))


def result_types(annotation: Any) -> tuple[type[Result], ...]:
    """Return the types of result in the return annotation of a command, as ``Output[A | B]``."""
    found = get_args(annotation)
    if not found:
        return ()
    return get_args(found[0]) if get_origin(found[0]) in (Union, UnionType) else (found[0],)


def described_fields(result: type) -> dict[str, str]:
    """Return JSON field -> its description."""
    texts = {
        name: " ".join(text.split()) for name, text in _FIELD.findall(inspect.getdoc(result) or "")
    }
    return {field.name.rstrip("_"): texts[field.name] for field in fields(result)}


def parts_of(annotation: Any) -> list[type]:
    """Return the dataclasses that the type of a field names.

    Args:
        annotation: The type, such as ``list[Row] | None``.
    """
    if isinstance(annotation, type) and hasattr(annotation, "__dataclass_fields__"):
        return [annotation]
    return [part for inner in get_args(annotation) for part in parts_of(inner)]
