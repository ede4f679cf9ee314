"""Base class of results that are shared by Python, the command line and HTTP.

A result is a frozen dataclass that describes its fields under ``Args:``. Python returns it, a
command prints it as JSON, and a route sends it; :meth:`Result.__get_pydantic_json_schema__` adds
the descriptions to the OpenAPI document. This module imports no slow modules, because the command
line needs the result classes at its start.
"""

import inspect
import re
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, get_args

NodeKey = str | int
"""Node key, as in the table of nodes."""

_FIELD = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


class Result:
    """Base class of results, which are dataclasses with the fields of a JSON object.

    A field name that is a Python keyword ends in ``_``; the JSON field has no ``_``.
    """

    TABLE: ClassVar[str] = ""
    """Name of the list field whose rows --csv and --parquet write; empty if there is none."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    @classmethod
    def columns(cls) -> list[str]:
        """Return the column names of the result's table."""
        (row,) = parts_of(cls.__dataclass_fields__[cls.TABLE].type)  # type: ignore[attr-defined]
        return list(described_fields(row))

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        """Add the class docstring and field descriptions to the schema in the OpenAPI document."""
        document = handler(schema)
        own = handler.resolve_ref_schema(document)
        own["description"] = (inspect.getdoc(cls) or "").split("\n\nArgs:")[0]
        for name, text in described_fields(cls).items():
            own["properties"][name]["description"] = text
        return document


def example(value: Any, alias: str | None = None) -> dict[str, Any]:
    """Return the metadata of a field: an example for the OpenAPI document, and the JSON name."""
    return {"examples": [value]} | ({"serialization_alias": alias} if alias else {})


def described_fields(result: type) -> dict[str, str]:
    """Return the description of each JSON field, including fields of base classes."""
    texts = {
        name: " ".join(text.split())
        for base in reversed(result.__mro__)
        for name, text in _FIELD.findall(inspect.cleandoc(base.__doc__ or ""))
    }
    return {own.name.rstrip("_"): texts[own.name] for own in fields(result)}


def parts_of(annotation: Any) -> list[type]:
    """Return the dataclasses in a field's type annotation.

    Args:
        annotation: Type annotation, such as ``list[Row] | None``.
    """
    if isinstance(annotation, type) and hasattr(annotation, "__dataclass_fields__"):
        return [annotation]
    return [part for inner in get_args(annotation) for part in parts_of(inner)]


@dataclass(frozen=True, kw_only=True)
class VersionResult(Result):
    """Result about one version.

    Args:
        model_version: Number of the version that was read or made.
        graph_version: Hash of the version's graph.
    """

    model_version: int = field(metadata=example(3))
    graph_version: str = field(metadata=example("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c"))
