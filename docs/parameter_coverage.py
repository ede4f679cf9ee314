"""Counts which parameters are documented: ``python -m docs.parameter_coverage``

Public are the names on the reference page (``docs/reference/python.md``) with their base classes,
the commands, and the fields of all classes without a leading underscore. Each field needs a
sentence below it or under ``Args:`` of its class, each argument one under ``Args:`` of its function
(or in the help of a command's option; those of routes are in the OpenAPI document). A method that
overrides another one need not repeat its text. Other functions document an argument only where its
name and type leave a question open.
"""

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_origin

import nodegraft

_SECTION = re.compile(r"^Args:\n((?:[ ]{4}.*\n|\n)*)", re.MULTILINE)
_LISTED = re.compile(r"^   ([A-Za-z][\w.]*)$", re.MULTILINE)
_NAME = re.compile(r"^[ ]{4}\**(\w+):", re.MULTILINE)


@dataclass(frozen=True)
class Parameter:
    """One field or argument, and whether it is documented."""

    owner: str
    name: str
    kind: str
    documented: bool


def all_parameters() -> Iterator[Parameter]:
    """Yield the fields of all classes and the arguments of the public functions and methods."""
    public = public_objects()
    for module in _modules():
        for name, value in vars(module).items():
            if name.startswith("_") or getattr(value, "__module__", "") != module.__name__:
                continue
            if inspect.isclass(value):
                yield from _of_class(value, value in public)
            elif inspect.isfunction(value) and (value in public or _is_command(value)):
                yield from _of_function(value, f"{module.__name__}.{name}")


def public_objects() -> set[Any]:
    """Return what the reference page lists, with base classes and the content of modules."""
    page = (Path(__file__).parent / "reference" / "python.md").read_text()
    public: set[Any] = set()
    for name in _LISTED.findall(page):
        value = pkgutil.resolve_name(f"nodegraft.{name}")
        if inspect.ismodule(value):
            functions_and_classes = (
                one
                for one in vars(value).values()
                if inspect.isroutine(one) or inspect.isclass(one)
            )
            public.update(one for one in functions_and_classes if one.__module__ == value.__name__)
        elif inspect.isclass(value):
            public.update(value.__mro__)
        else:
            public.add(value)
    return public


def _modules() -> Iterator[ModuleType]:
    found = pkgutil.walk_packages(nodegraft.__path__, "nodegraft.")
    yield from (importlib.import_module(one.name) for one in found)


def _of_class(cls: type, is_public: bool) -> Iterator[Parameter]:
    owner = f"{cls.__module__}.{cls.__qualname__}"
    told = _told(inspect.getdoc(cls) if "__doc__" in vars(cls) else "") | _told_by_options(cls)
    if dataclasses.is_dataclass(cls):
        own = [one for one in dataclasses.fields(cls) if one.name in _annotated(cls)]
        texts = _texts_below_fields(cls)
        for one in own:
            yield Parameter(owner, one.name, "class", one.name in texts or one.name in told)
    elif is_public and "__init__" in vars(cls) and not _is_protocol(cls):
        for name in _arguments(cls.__init__):  # type: ignore[misc]
            yield Parameter(owner, name, "class", name in told)
    for name, value in vars(cls).items() if is_public else ():
        function = inspect.unwrap(getattr(value, "__func__", value))
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        if not any(name in vars(base) for base in cls.__mro__[1:]):
            yield from _of_function(function, f"{owner}.{name}")


def _of_function(function: Any, owner: str) -> Iterator[Parameter]:
    function = inspect.unwrap(function)
    told = _told(inspect.getdoc(function)) | _told_by_options(function)
    for name in _arguments(function):
        yield Parameter(owner, name, "function", name in told)


def _arguments(function: Any) -> list[str]:
    names = inspect.signature(function).parameters
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


def _told(doc: str | None) -> set[str]:
    section = _SECTION.search((doc or "") + "\n")
    return set(_NAME.findall(section[1])) if section else set()


def _told_by_options(function: Any) -> set[str]:
    hints = inspect.get_annotations(function) if "cli" in function.__module__ else {}
    return {
        name
        for name, hint in hints.items()
        if get_origin(hint) is not None
        and any(getattr(part, "help", None) for part in get_args(hint))
    }


def _annotated(cls: type) -> set[str]:
    return set(inspect.get_annotations(cls))


@cache
def _texts_below_fields(cls: type) -> frozenset[str]:
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(tree, ast.ClassDef)  # noqa: S101
    pairs = zip(tree.body, tree.body[1:], strict=False)
    return frozenset(
        field.target.id
        for field, text in pairs
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    )


def _is_command(function: Any) -> bool:
    return str(function.__module__).startswith("nodegraft.cli.commands.")


def _is_protocol(cls: type) -> bool:
    return bool(getattr(cls, "_is_protocol", False))


def main() -> None:
    """Print how much is documented, and what is not."""
    found = list(all_parameters())
    for kind in ("class", "function"):
        some = [one for one in found if one.kind == kind]
        done = sum(one.documented for one in some)
        print(f"{kind} parameters: {done} of {len(some)} documented")
    missing = [one for one in found if not one.documented]
    for one in missing:
        print(f"  {one.owner}: {one.name}")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
